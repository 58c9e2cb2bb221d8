"""Readers of foreign files, conditions that must hold for any content, and generation of such files.

tests/python/test_foreign.py makes a fixed number of files, fuzz/python.py (`make fuzz`) as many as time permits.
"""

import functools
import json
import random
import tempfile
from pathlib import Path

import numpy as np

from optcp import ScenarioError
from optcp.common import stored
from optcp.constellation import beside, hypatia_network, recorded, tles
from optcp.errors import InputError, RunFailed
from optcp.flows import lists
from optcp.flows import read as read_flows
from optcp.papers.kept import LongRun
from optcp.papers.model import Result
from optcp.papers.sensitivity.result import Result as Sensitivity
from optcp.scenarios import topologies
from optcp.scenarios.scenario import Scenario, load
from optcp.study import Study, StudyResult
from optcp_papers.evidence.base import Result as Evidence
from optcp_papers.lbas import outcome

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"
PLACE = Path(tempfile.mkdtemp(prefix="optcp-foreign-"))

SMALL = """
title = "small"
stop = "100 ms"

[[nodes]]
names = ["A", "B"]

[[links]]
chain = ["A", "B"]
rate = "1 Mbps"
delay = "3 ms"
queue = "5 packets"

[[flows]]
group = "f"
path = ["A", "B"]
tcp = "rfc"

[[observe]]
name = "load"
kind = "load"
interval = "50 ms"
"""

EDGES = ["", "0", "-1", "1e400", "-0.0", "nan", "NaN", "Infinity", "null", "true", "18446744073709551616", "9" * 5000]
EDGES += ['"', "'", "[", "]", "{", "}", "<", ">", "&", "\\", "\n", "\0", "\ud7ff", "é", "[" * 2000, '{"a":' * 2000]
VALUES = [None, True, 0, -1, 2**64, 10**5000, 1e308, float("nan"), float("inf"), "", "é\0", "a/b", [], [None], {}]


def written(name, data):
    """Write a file of that name with these bytes."""
    path = PLACE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def named(path, error):
    """Check that a message names the file and fits on a screen."""
    said = str(error)
    assert path.name in said, said[:500]
    assert len(said) < 2000, said[:500]


def topology(data, form):
    """Read a topology file; the content determines the format if the suffix is that of no format."""
    path = written(f"topology.{form}", data)
    try:
        names, links, demands, *_ = topologies.find("file", path.name, str(PLACE / "world.toml"))
    except InputError as error:
        return named(path, error)
    assert len(set(names)) == len(names)
    assert all(0 <= end < len(names) for *ends, _ in demands for end in ends)
    assert all(name and all(c.isalnum() or c in "_-." for c in name) for name in names)
    for a, b, name, length_mm in links:
        assert 0 <= a < len(names)
        assert 0 <= b < len(names)
        assert name is None or (isinstance(name, str) and name)
        # Range that the simulator accepts.
        assert length_mm is None or (isinstance(length_mm, int) and 0 <= length_mm < 2**64)
    return None


def matrix(data):
    path = written("matrix.csv", data)
    try:
        times = topologies.times(path.name, str(PLACE / "world.toml"))
        read = [topologies.matrix(path.name, str(PLACE / "world.toml"), time) for time in times or [None]]
    except InputError as error:
        return named(path, error)
    for found in read:
        weights = [weight for *_, weight in found["rows"]]
        assert found["heading"] is None or len(found["heading"][1]) == 3
        assert all(weight >= 0 for weight in weights)
        assert sum(weights) < 2**63
    return None


def mahimahi(data):
    """Read a trace of a link of SMALL as a Mahimahi trace."""
    path = written("cell.trace", data)
    schedule = '[[schedules]]\nform = "mahimahi"\nfile = "cell.trace"\nlink = ["A", "B"]\n'
    world = written("mahimahi.toml", (SMALL.replace("1 Mbps", "1 Gbps") + schedule).encode())
    try:
        schedules = load(world).resolved["schedules"]
    except ScenarioError as error:
        return named(path, error)
    assert all(step["changes"] for schedule in schedules for step in schedule["steps"])
    return None


def flow_list(data, name="flows.csv"):
    """Read a list of flows of SMALL."""
    path = written(name, data)
    flows = f'[[flows]]\ngroup = "f"\nlist = "{name}"\npath = "shortest"\n'
    listed = SMALL.replace('[[flows]]\ngroup = "f"\npath = ["A", "B"]\n', flows)
    try:
        load(written("flows.toml", listed.encode()))
    except ScenarioError as error:
        return named(path, error)
    return None


def captured(data):
    """Read the flows of a capture or connection list, and the list of them."""
    path = written("captured", data)
    try:
        flows = read_flows(path).flows
    except InputError as error:
        return named(path, error)
    assert all(flow.size_bytes > 0 and flow.start_ps >= 0 for flow in flows)
    early = [flow for flow in flows if flow.start_ps < 2**63]
    again = lists.read("again.csv", lists.written(early)) if early else None
    assert again is None or again.starts_ps == [flow.start_ps for flow in early]
    return None


def passes(data):
    """Read a table of changes of the link of SMALL."""
    path = written("passes.csv", data)
    world = written("passes.toml", (SMALL + '[[schedules]]\nfile = "passes.csv"\n').encode())
    try:
        load(world)
    except ScenarioError as error:
        return named(path, error)
    return None


def paths(data):
    """Read Hypatia's two files of a pair, separated by a line `--`."""
    round_trips, _, changes = data.partition(b"--\n")
    written("networkx_path_1_to_2.txt", changes)
    path = written("networkx_rtt_1_to_2.txt", round_trips)
    try:
        found = recorded(path)
    except InputError as error:
        return named(Path("_1_to_2.txt"), error)  # of either file
    stretches = found.stretches()
    assert all(stretch.start_s < stretch.end_s for stretch in stretches)
    assert np.isfinite(found.rtt_ms).sum() == sum(map(bool, found.paths))
    return None


def satellites(data):
    """Read a file of TLEs with correct checksums and one of links, separated by a line `--`."""
    elements, _, links = data.partition(b"--\n")
    path = written("satellites.tle", summed(elements))
    try:
        found = tles(path, written("satellites.isls", links) if links else None)
        places = found.positions([0.0, 3600.0])
    except InputError as error:
        return named(Path("satellites."), error)  # of either file
    assert np.isfinite(places).all()
    assert found.summary
    assert ((found.isls >= 0) & (found.isls < found.size)).all()
    return None


def places(data):
    """Read the two files stored next to a satellite scenario, separated by a line `--`."""
    positions, _, round_trips = data.partition(b"--\n")
    for name, content in ((beside.PLACES, positions), (beside.ROUND_TRIPS, round_trips)):
        folder = written(f"beside/{name}", content).parent
    try:
        found = beside.beside(folder)
    except InputError as error:
        return named(folder, error)  # of either file
    assert all(np.isfinite(place.at(now)).all() for place in found.places.values() for now in (0.0, 7.5, 1e9))
    assert [stretch.end_s for stretch in found.paths.stretches()] == sorted(
        stretch.end_s for stretch in found.paths.stretches()
    )
    return None


def summed(elements):
    """Return TLEs with correct checksums."""
    lines = elements.splitlines()
    for at, line in enumerate(lines):
        if len(line) == 69:
            digits = sum(int(chr(item)) if chr(item) in "0123456789" else item == ord("-") for item in line[:68])
            lines[at] = line[:68] + str(digits % 10).encode()
    return b"\n".join(lines)


HYPATIA = ("tles.txt", "isls.txt", "ground_stations.txt", "description.txt")
STATES = "dynamic_state_1000ms_for_2s"


def of_hypatia(data):
    """Read a network of Hypatia, files separated by a line `--`; the last two are states."""
    files = [*data.split(b"--\n"), *[b""] * 6]
    names = (*HYPATIA, f"{STATES}/fstate_0.txt", f"{STATES}/fstate_1000000000.txt")
    for name, content in zip(names, files, strict=False):
        path = written(f"network/{name}", summed(content) if name == "tles.txt" else content)
    try:
        found = hypatia_network(path.parents[1])
        states = [next_hop for _, next_hop in found.states]
        ends = [str(found.size + at) for at in (0, 1)]
        paths = found.series(*ends)
        rtt_ms = paths.rtt_ms
    except InputError as error:
        # A number may be the name of another station.
        return None if "both ends" in str(error) else named(path.parents[1], error)  # of any file
    assert all((state >= -1).all() and (state < state.shape[1]).all() for state in states)
    assert np.isfinite(rtt_ms).tolist() == [bool(path) for path in paths.paths]
    return None


def results(data):
    """Read a file of results (experiment, study or evidence), and write it unchanged."""
    path = written("result.json", data)
    for kind in (Result, Sensitivity, Evidence):
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


@functools.cache
def small_study():
    """Return the files of a study of two combinations that are read."""
    world = Scenario.parse(SMALL)
    with tempfile.TemporaryDirectory() as place:
        Study(world, {"stop": ["100 ms", "150 ms"]}).run(place, jobs=1)
        return {
            str(path.relative_to(place)): path.read_bytes() for path in Path(place).rglob("[!.]*") if path.is_file()
        }


def study(target, data):
    """Replace a study, combination, manifest or table in a study's directory, with correct checksums."""
    root = PLACE / "study"
    files = dict(small_study())
    path = {
        "study": "study.json",
        "cell": min(name for name in files if name.startswith("cells/")),
        "part": next(name for name in files if name.startswith("parts/")),
        "table": next(name for name in files if name.startswith("load/")),
    }[target]
    if target == "table":
        manifest = next(name for name in files if name.startswith("parts/"))
        about = json.loads(files[manifest])
        del about["sha256"]
        about["files"]["load"] |= {"sha256": stored.sha256(data), "bytes": len(data)}
        files[manifest] = stored.with_checksum(json.dumps(about, indent=1) + "\n").encode()
        files[path] = data
    else:
        files[path] = sealed(data)
    for name, content in files.items():
        written(f"study/{name}", content)
    try:
        done = StudyResult.open(root)
        done.metrics  # noqa: B018
        for branch in done.grid.branches:
            for seed in done.seeds:
                run = done.run(branch, seed)
                for name in run.names:
                    run[name]
        for name in done.tables:
            done.table(name)
    except (InputError, RunFailed) as error:
        said = str(error)
        assert str(root) in said, said[:500]
        assert len(said) < 2000, said[:500]


def sealed(data):
    """Return a JSON object with a correct checksum; other bytes unchanged."""
    try:
        about = json.loads(data)
        about.pop("sha256", None)
        return stored.with_checksum(json.dumps(about, indent=1) + "\n").encode()
    except (ValueError, RecursionError, AttributeError, TypeError):
        return data


TARGETS = {
    "gml": lambda data: topology(data, "gml"),
    "graphml": lambda data: topology(data, "graphml"),
    "topology": lambda data: topology(data, "net"),
    "matrix": matrix,
    "mahimahi": mahimahi,
    "list": flow_list,
    "parquet-list": functools.partial(flow_list, name="flows.parquet"),
    "flows": captured,
    "passes": passes,
    "paths": paths,
    "tles": satellites,
    "places": places,
    "network": of_hypatia,
    "results": results,
    "kept": kept,
    **{target: functools.partial(study, target) for target in ("study", "cell", "part", "table")},
}


def starts(target):
    """Return small files of the kind, and those that failed before."""
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


class Mutator:
    """Generator of files for a target from the stored ones; equal seeds make equal files."""

    def __init__(self, target):
        self.target = target
        self.texts = starts(target)
        self.words = sorted({word for text in self.texts for word in words(text)})

    def change(self, data, seed):
        draw = random.Random(seed)  # noqa: S311 - nothing is secret
        if self.target in ("results", "kept", "study", "cell", "part") and draw.random() < 0.6:
            data = document(data, draw)
        for _ in range(draw.randrange(1, 4) if data in self.texts or draw.random() < 0.2 else 0):
            data = self.text(data, draw)
        return data

    def text(self, data, draw):
        """Replace a word or a line, delete or repeat a piece, or change a few bytes."""
        at = draw.randrange(len(data) + 1)
        kind = draw.randrange(5)
        if kind == 0:
            end = at + draw.randrange(10)
            return data[:at] + draw.randbytes(draw.randrange(4)) + data[end:]
        if kind == 1:
            word = draw.choice(EDGES).encode() if draw.random() < 0.5 else draw.choice(self.words)
            result = words(data)
            return data.replace(draw.choice(result), word, 1) if result else word
        lines = data.splitlines(keepends=True) or [b""]
        place = draw.randrange(len(lines))
        if kind == 2:
            lines[place] = draw.choice(draw.choice(self.texts).splitlines(keepends=True) or [b""])
        elif kind == 3:
            lines[place : place + draw.randrange(1, 4)] = []
        else:
            lines[place] *= draw.choice((2, 3, 50))
        return b"".join(lines)


def words(data):
    """Return runs of letters and digits."""
    return bytes(item if item in WORD else 32 for item in data).split()


WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def document(data, draw):
    """Return the JSON value with one place changed, or the data unchanged if it is not JSON."""
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
