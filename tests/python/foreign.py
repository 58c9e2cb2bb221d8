"""What reads foreign files, what must hold whatever they hold, and how such files are made.

tests/python/test_foreign.py makes a fixed number of them, fuzz/python.py (`make fuzz`) as many as there is time for.
"""

import io
import json
import random
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from optcp import stored, topologies
from optcp.errors import InputError, RunFailed
from optcp.evidence.base import Result as Evidence
from optcp.papers.kept import LongRun
from optcp.papers.lbas import outcome
from optcp.papers.model import Result
from optcp.sensitivity.result import Result as Study
from optcp.study import saved
from optcp.study.store import Store, read_runs, write_runs

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
PLACE = Path(tempfile.mkdtemp(prefix="optcp-foreign-"))

EDGES = ["", "0", "-1", "1e400", "-0.0", "nan", "NaN", "Infinity", "null", "true", "18446744073709551616", "9" * 5000]
EDGES += ['"', "'", "[", "]", "{", "}", "<", ">", "&", "\\", "\n", "\0", "\ud7ff", "é", "[" * 2000, '{"a":' * 2000]
VALUES = [None, True, 0, -1, 2**64, 10**5000, 1e308, float("nan"), float("inf"), "", "é\0", "a/b", [], [None], {}]


def written(name, data):
    """The file of that name, with these bytes."""
    path = PLACE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def named(path, error):
    """A message must name the file, and fit on a screen."""
    said = str(error)
    assert path.name in said, said[:500]
    assert len(said) < 2000, said[:500]


def topology(data, form):
    path = written(f"topology.{form}", data)
    try:
        names, links = topologies.find("file", path.name, str(PLACE / "world.toml"))
    except InputError as error:
        return named(path, error)
    assert len(set(names)) == len(names)
    assert all(name and all(c.isalnum() or c in "_-." for c in name) for name in names)
    for a, b, name, length_mm in links:
        assert 0 <= a < len(names)
        assert 0 <= b < len(names)
        assert name is None or (isinstance(name, str) and name)
        # What the simulator takes.
        assert length_mm is None or (isinstance(length_mm, int) and 0 <= length_mm < 2**64)
    return None


def results(data):
    """A file of results: of an exhibit, a study or evidence. What is read is written as it was."""
    path = written("result.json", data)
    for kind in (Result, Study, Evidence):
        try:
            stored.load(path, kind.from_json)
        except RunFailed as error:
            named(path, error)
        try:
            text = kind.from_json(data.decode()).to_json()
        except ValueError:
            continue
        assert kind.from_json(text).to_json() == text


def kept(data):
    run = LongRun(written("kept-seed-1.json", data), PLACE, (), 1, dict, outcome.METRICS)
    try:
        content = run.read()
        if content is not None:
            batches = outcome.from_json(content["outcome"])
            assert all(np.isfinite(values).all() for values in batches.values())
    except RunFailed as error:
        named(run.file, error)


def run(data):
    path = written("run/meta.json", data)
    try:
        (found,) = saved.find(path.parent)
    except RunFailed as error:
        return named(path, error)
    assert all(isinstance(name, str) for name in found.observations)
    for name in found.observations:
        try:
            found.table(name)
        except RunFailed as error:
            named(path.parent, error)
    return None


class OneStudy:
    """A study as the store sees it."""

    hash = "study"


def runs(data):
    store = Store(PLACE)
    path = store.path(OneStudy, 1)
    written(str(path.relative_to(PLACE)), data)
    try:
        store.load(OneStudy, 1)
    except RunFailed as error:
        named(path, error)
    try:
        found = read_runs(io.BytesIO(data))
    except ValueError:
        return
    # What was read can be kept again.
    with io.BytesIO() as file:
        write_runs(file, found)


TARGETS = {
    "gml": lambda data: topology(data, "gml"),
    "graphml": lambda data: topology(data, "graphml"),
    "results": results,
    "kept": kept,
    "run": run,
    "runs": runs,
}


def starts(target):
    """Small files of the kind, and those that were trouble once."""
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


class Mutator:
    """Makes files for a target from those that are kept: the same for the same seed."""

    def __init__(self, target):
        self.target = target
        self.texts = starts(target)
        self.words = sorted({word for text in self.texts for word in words(text)})

    def change(self, data, seed):
        draw = random.Random(seed)  # noqa: S311 - nothing is secret
        if self.target == "runs" and draw.random() < 0.8:
            data = self.archive(data, draw)
        elif self.target in ("results", "kept", "run") and draw.random() < 0.6:
            data = document(data, draw)
        for _ in range(draw.randrange(1, 4) if data in self.texts or draw.random() < 0.2 else 0):
            data = self.text(data, draw)
        return data

    def text(self, data, draw):
        """A word or a line for another, a piece away or twice, a few bytes."""
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(5)
        if kind == 0:
            end = at + draw.randrange(10)
            return data[:at] + draw.randbytes(draw.randrange(4)) + data[end:]
        if kind == 1:
            word = draw.choice(EDGES).encode() if draw.random() < 0.5 else draw.choice(self.words)
            found = words(data)
            return data.replace(draw.choice(found), word, 1) if found else word
        lines = data.splitlines(keepends=True) or [b""]
        place = draw.randrange(len(lines))
        if kind == 2:
            lines[place] = draw.choice(draw.choice(self.texts).splitlines(keepends=True) or [b""])
        elif kind == 3:
            lines[place : place + draw.randrange(1, 4)] = []
        else:
            lines[place] *= draw.choice((2, 3, 50))
        return b"".join(lines)

    def archive(self, data, draw):
        """An archive of arrays with another text, other bytes or other members, and whole all the same."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            text = str(np.load(io.BytesIO(members["runs.npy"])))
        except Exception:  # noqa: BLE001 - not an archive of runs any more
            return self.text(data, draw)
        kind = draw.randrange(4)
        name = draw.choice(sorted(members))
        if kind == 0:
            with io.BytesIO() as file:
                np.save(file, np.array(document(text.encode(), draw).decode(errors="replace")))
                members["runs.npy"] = file.getvalue()
        elif kind == 1:
            members[name] = self.text(members[name], draw)
        elif kind == 2:
            members[draw.choice(["é", "0", "0/a", "0/a/b", "9/a/b", "x/y/z", "runs"])[:99] + ".npy"] = members.pop(name)
        else:
            with io.BytesIO() as file:
                np.save(file, np.array(draw.choice(VALUES[:4] + VALUES[6:11])), allow_pickle=True)
                members[name] = file.getvalue()
        with io.BytesIO() as file:
            with zipfile.ZipFile(file, "w") as archive:
                for member, content in members.items():
                    archive.writestr(member, content)
            return file.getvalue()


def words(data):
    """Runs of letters and digits."""
    return bytes(one if one in WORD else 32 for one in data).split()


WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def document(data, draw):
    """The same JSON value with something else in one place, or the data as it was where it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    holder = [value]
    inside, name = holder, 0
    while isinstance(inside[name], dict | list) and inside[name] and draw.random() < 0.85:
        inside = inside[name]
        name = draw.choice(list(inside)) if isinstance(inside, dict) else draw.randrange(len(inside))
    kind = draw.randrange(4)
    if kind == 0 and inside is not holder:
        del inside[name]
    elif kind == 1 and isinstance(inside, dict):
        inside[draw.choice([*inside, "new", ""])] = inside.pop(name)
    elif kind == 2 and isinstance(inside, list):
        inside.append(inside[name])
    else:
        inside[name] = draw.choice(VALUES)
    try:
        return json.dumps(holder[0]).encode()
    except ValueError:
        return data
