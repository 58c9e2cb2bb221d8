"""Untrusted directories: no name and no link in them leads a command out of them."""

import json
import shutil

import pytest

from optcp import InputError, Study, StudyResult, load
from optcp.common.files import is_name
from optcp.common.stored import with_checksum
from optcp.errors import Damaged

WORLD = """
title = "Two nodes and a link"
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "20 packets" }]
flows = [{ group = "all", path = ["A", "B"] }]
observe = [
    { name = "goodput", kind = "goodput", interval = "100 ms" },
    { name = "packets", kind = "packets" },
    { name = "tcp", kind = "tcp" },
]
"""
ELSEWHERE = (
    "..", ".", "", " ", "../outside", "..\\outside", "/etc/passwd", "\\\\host\\share", "C:outside", "a/b", "a\0b",
    "a\nb",
    "./study", "...",
)  # fmt: skip
"""Invalid names of files in a directory, on one system or another."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "world.toml").write_text(WORLD)
    Study(load(folder / "world.toml"), {"links.0.delay": ["1 ms", "2 ms"]}, seeds=2, digest=True).run(folder / "study")
    return folder / "study"


@pytest.fixture
def study(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "study")


def rewrite(path, change):
    """Change a file with a checksum and update the checksum, as an attacker would."""
    said = json.loads(path.read_text())
    del said["sha256"]
    change(said)
    path.write_text(with_checksum(json.dumps(said, indent=1, ensure_ascii=False) + "\n"))


def read(study):
    done = StudyResult.open(study)
    for name in done.tables:
        done.table(name)
    return done


def remade(study, whole, **options):
    (study.parent / "world.toml").write_text(WORLD)
    over = {"links.0.delay": ["1 ms", "2 ms"]}
    return Study(load(study.parent / "world.toml"), over, seeds=2, digest=True).run(study, **options)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_unsafe_name_is_not_a_file_name(name):
    assert not is_name(name)


@pytest.mark.parametrize("name", ["goodput", "a.b", "delay=1ms-01234567", "_x", "größe", "..a"])
def test_ordinary_name_is_a_file_name(name):
    assert is_name(name)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_names_in_the_identity_that_lead_elsewhere_are_refused(study, whole, name):
    for change in (
        lambda said: said["cells"].append(name),
        lambda said: said["observe"].append(name),
        lambda said: said["beside"].update({name: "0" * 64}),
    ):
        shutil.copy(whole / "study.json", study / "study.json")
        rewrite(study / "study.json", change)
        with pytest.raises(Damaged, match=r"study\.json: `(cells|observe|beside)` has .*not a file name"):
            read(study)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_names_in_a_manifest_that_lead_elsewhere_are_refused_and_nothing_is_removed(study, name):
    outside = study.parent / "outside"
    outside.mkdir()
    manifest = next((study / "parts").glob("*.json"))
    (outside / f"{manifest.stem}.parquet").write_text("precious")
    rewrite(manifest, lambda said: said["files"].update({name: said["files"]["scalars"]}))
    with pytest.raises(Damaged, match=r"`files` has .*not a file name"):
        read(study)
    other = Study(load("single-failure"), {}, seeds=1)
    with pytest.raises(Damaged, match=r"`files` has .*not a file name"):
        other.run(study, force=True)
    assert (outside / f"{manifest.stem}.parquet").read_text() == "precious"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_cells_of_runs_and_observations_of_cells_that_lead_elsewhere_are_refused(study, whole, name):
    manifest = next((study / "parts").glob("*.json"))
    rewrite(manifest, lambda said: said["runs"][0].__setitem__(0, name))
    with pytest.raises(Damaged, match=r"`runs` has .*not a file name"):
        read(study)
    shutil.copy(whole / "parts" / manifest.name, manifest)
    cell = next((study / "cells").glob("*.json"))
    rewrite(cell, lambda said: said["scenario"]["observe"].append({"name": name, "kind": "tcp"}))
    with pytest.raises(Damaged, match=r"`scenario\.observe` has .*not a file name"):
        read(study)


@pytest.mark.parametrize("name", ["study.json", "parts", "cells", "scalars", "runs", "goodput"])
def test_a_link_in_place_of_what_is_read_or_written_is_refused(study, whole, name):
    (study.parent / "elsewhere").mkdir()
    moved = study.parent / "elsewhere" / name
    shutil.move(study / name, moved)
    (study / name).symlink_to(moved)
    before = {path: path.read_bytes() for path in moved.parent.rglob("*") if path.is_file()}
    for use in (read, lambda study: remade(study, whole), lambda study: remade(study, whole, force=True)):
        with pytest.raises(InputError, match="symbolic links are not allowed"):
            use(study)
    assert before == {path: path.read_bytes() for path in moved.parent.rglob("*") if path.is_file()}


def test_a_link_in_place_of_one_file_is_refused(study, whole):
    for path in [*(study / "parts").glob("*.json"), *(study / "cells").glob("*.json"), *study.glob("*/*.parquet")]:
        moved = study.parent / path.name
        shutil.move(path, moved)
        path.symlink_to(moved)
        with pytest.raises(InputError, match="symbolic links are not allowed"):
            read(study)
        path.unlink()
        shutil.move(moved, path)
    assert len(read(study).digests("records_sha256")) == 4


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("export", ["export", "study", "--format", "csv"]),
        ("export", ["export", "study", "--format", "pcapng"]),
        ("export", ["export", "study", "--format", "ns2"]),
        ("export", ["export", "study", "--format", "perfetto"]),
        ("export", ["export", "study", "--format", "qlog"]),
        ("plots", ["plot", "study", "--y", "goodput_bps"]),
        ("plots", ["trace", "study", "--cell", "delay=1 ms", "--seed", "1"]),
        ("report", ["report", "study"]),
    ],
)
def test_commands_write_through_no_link(optcp, study, monkeypatch, folder, words):
    monkeypatch.chdir(study.parent)
    target = study.parent / "target"
    (study / folder).symlink_to(target)
    target.mkdir()
    status, _, err = optcp(*words)
    assert (status, "symbolic links are not allowed" in err, list(target.iterdir())) == (2, True, [])
    (study / folder).unlink()
    status, _, _ = optcp(*words)
    assert status == 0
    written = next((study / folder).rglob("*.*"))
    written.unlink()
    precious = study.parent / "precious"
    precious.write_text("mine")
    written.symlink_to(precious)
    status, _, err = optcp(*words)
    assert (status, "symbolic links are not allowed" in err, precious.read_text()) == (2, True, "mine")


def test_a_temporary_file_that_is_a_link_is_not_followed(study, whole):
    precious = study.parent / "precious"
    precious.write_text("mine")
    part = next((study / "parts").glob("*.json"))
    table = study / "scalars" / f"{part.stem}.parquet"
    part.unlink()
    table.unlink()
    (study / "scalars" / f".{table.name}.tmp").symlink_to(precious)
    with pytest.raises(InputError, match="symbolic links are not allowed"):
        remade(study, whole)
    assert precious.read_text() == "mine"


def test_a_stored_scenario_reads_no_file_outside_its_directory(optcp, study, monkeypatch):
    monkeypatch.chdir(study.parent)
    (study.parent / "secret.csv").write_text("A,B,1\n")
    cell = sorted((study / "cells").glob("*.json"))[0]
    named = WORLD.replace(
        'path = ["A", "B"]', 'pairs = { among = "g", matrix = "../secret.csv", count = 1 }, path = "shortest"'
    )
    named = named.replace('{ names = ["A", "B"] }', '{ names = ["A", "B"], group = "g" }')
    (study / "world.toml").write_text(named)
    assert optcp("validate", "study/world.toml")[0] == 0
    rewrite(cell, lambda said: said.update(toml=named))
    where = json.loads(cell.read_text())["cell"]["links.0.delay"]
    status, _, err = optcp("animate", "study", "--cell", f"delay={where}", "--seed", "1")
    assert status == 2
    assert "secret.csv" in err
    assert "No such file" in err


def test_files_that_a_scenario_names_are_copied_unless_the_study_has_their_name(optcp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("demands.csv", "scalars", "Study.json", "plots", "goodput"):
        named = WORLD.replace(
            'path = ["A", "B"]', f'pairs = {{ among = "g", matrix = "{name}", count = 1 }}, path = "shortest"'
        )
        named = named.replace('{ names = ["A", "B"] }', '{ names = ["A", "B"], group = "g" }')
        (tmp_path / "world.toml").write_text(named)
        (tmp_path / name).write_text("A,B,1\n")
        status, _, err = optcp("run", "world.toml", "--out", "out", "--force", "--quiet")
        if name == "demands.csv":
            assert status == 0
            assert (tmp_path / "out" / name).read_text() == "A,B,1\n"
        else:
            assert (status, "rename the file" in err) == (2, True)
