"""A study's directory survives: killed processes, several at once, files that were changed, disks that are full."""

import json
import random
import resource
import shutil
import subprocess
import sys
import time

import pytest

WORLD = """
title = "Two nodes and a link"
stop = "2 s"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "20 Mbps"
delay = "uniform(1 ms, 5 ms)"
queue = "20 packets"
[[flows]]
group = "all"
path = ["A", "B"]
tcp = "rfc"
start = "uniform(0 s, 0.1 s)"
[[observe]]
name = "goodput"
kind = "goodput"
interval = "100 ms"
"""
STUDY = """
import sys, optcp
try:
    optcp.Study(sys.argv[1], {"links.0.queue": ["10 packets", "20 packets", "40 packets"]}, seeds=int(sys.argv[3])).run(
        sys.argv[2], jobs=2
    )
except (optcp.InputError, optcp.errors.RunFailed, optcp.errors.Damaged, OSError) as error:
    sys.exit(str(error))
"""
SEEDS = 80


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    path = tmp_path_factory.mktemp("world") / "world.toml"
    path.write_text(WORLD)
    return path


def started(world, out, seeds=SEEDS, **options):
    command = [sys.executable, "-c", STUDY, str(world), str(out), str(seeds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def message(process):
    _, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    return process.returncode, err


@pytest.fixture(scope="module")
def whole(world, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "study"
    assert message(started(world, out)) == (0, "")
    return out


def content(study):
    """All files but hidden ones; of manifests without the time that the runs took."""
    result = {}
    for path in study.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            name = str(path.relative_to(study))
            result[name] = path.read_bytes()
            if name.startswith("parts"):
                manifest = json.loads(result[name])
                del manifest["cpu_seconds"], manifest["sha256"]
                result[name] = manifest
    return result


def test_study_killed_five_times_has_unchanged_results(world, whole, tmp_path):
    rng = random.Random(29)  # noqa: S311 - moments, no secrets
    parts = tmp_path / "study" / "parts"
    many = len(list((whole / "parts").glob("*.json")))
    for nth in range(5):
        process = started(world, tmp_path / "study")
        least = many * (nth + rng.random()) / 6
        while len(list(parts.glob("*.json"))) < least and process.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        process.communicate()
    assert len(list(parts.glob("*.json"))) < many
    assert message(started(world, tmp_path / "study")) == (0, "")
    assert content(tmp_path / "study") == content(whole)


def test_two_processes_in_one_directory_make_each_run_once(world, whole, tmp_path):
    both = [started(world, tmp_path / "study") for _ in range(2)]
    assert [message(process) for process in both] == [(0, ""), (0, "")]
    assert content(tmp_path / "study") == content(whole)
    manifests = [json.loads(path.read_text()) for path in (tmp_path / "study" / "parts").glob("*.json")]
    runs = [tuple(run) for manifest in manifests for run in manifest["runs"]]
    assert len(runs) == len(set(runs)) == 3 * SEEDS


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


def opened(study):
    code = """
import sys, optcp
try:
    done = optcp.StudyResult.open(sys.argv[1])
    done["goodput"].cells(), done.metrics
except (optcp.InputError, optcp.errors.Damaged) as error:
    sys.exit(str(error))
"""
    return message(subprocess.Popen([sys.executable, "-c", code, str(study)], stderr=subprocess.PIPE, text=True))


def test_a_table_that_was_edited_removed_or_swapped_is_named(copy):
    first, second = sorted((copy / "goodput").glob("*.parquet"))[:2]
    was = first.read_bytes()
    edited = bytearray(was)
    edited[len(was) // 2] ^= 1
    for wrong in (bytes(edited), was[:-1], second.read_bytes()):
        first.write_bytes(wrong)
        status, said = opened(copy)
        assert status == 1
        assert first.name in said
        assert "changed since it was written" in said
    first.unlink()
    status, said = opened(copy)
    assert (status, "missing" in said, first.name in said) == (1, True, True)


def test_a_manifest_that_was_edited_or_is_of_another_part_is_named(copy):
    first, second = sorted((copy / "parts").glob("*.json"))[:2]
    was = first.read_text()
    for wrong in (was.replace('"cpu_seconds": 0', '"cpu_seconds": 1'), second.read_text(), "{"):
        first.write_text(wrong)
        status, said = opened(copy)
        assert status == 1
        assert first.name in said
    first.write_text(was)
    assert opened(copy) == (0, "")


def test_a_run_whose_part_was_removed_is_made_again(world, copy, whole):
    part = sorted((copy / "parts").glob("*.json"))[3]
    part.unlink()
    for table in copy.glob(f"*/{part.stem}.parquet"):
        table.unlink()
    assert message(started(world, copy)) == (0, "")
    assert content(copy) == content(whole)


def test_a_file_that_cannot_be_written_is_named(world, tmp_path):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    status, said = message(started(world, tmp_path / "study", preexec_fn=small))
    assert status == 1
    assert "cannot be written" in said or "File too large" in said
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "scalars").write_text("a file")
    status, said = message(started(world, tmp_path / "other"))
    assert status == 1
    assert "scalars" in said
