"""Writing of files: atomically, through links, and never in place of a device."""

import os
import stat

import pytest

from optcp.common.files import replacing, write_text


def test_files_are_whole_or_absent(tmp_path):
    target = tmp_path / "deep" / "file.txt"
    write_text(target, "first")

    def fail_half_way():
        with replacing(target) as file:
            file.write(b"sec")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert target.read_text() == "first"
    assert list(target.parent.iterdir()) == [target]


def test_link_stays_and_its_target_is_replaced(tmp_path):
    file, link = tmp_path / "there" / "file.txt", tmp_path / "link.txt"
    write_text(file, "first")
    link.symlink_to(file)
    write_text(link, "second")
    assert link.is_symlink()
    assert file.read_text() == "second"
    assert not [entry for entry in tmp_path.rglob("*") if entry.suffix == ".tmp"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_special_file_is_written_in_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]
