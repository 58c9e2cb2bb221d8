"""Wrong arguments of every kind for every public function: it returns a value or a message."""

import contextlib
import functools
import inspect
import itertools
import time
from pathlib import Path

import numpy as np
import pytest

import optcp
from optcp import stats
from optcp.common.arguments import shown
from optcp.data import compare
from optcp.data.axes import Axis
from optcp.data.compare import Comparison
from optcp.errors import InputError, RunFailed
from optcp.scenarios.run import FreshRun
from optcp.stats import quantiles
from optcp.study.observed import Observed

WORLD = """
title = "A short transfer"
stop = "60 ms"
parameters = { delay = "1 ms" }
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B"], ["A", "C", "B"]], rate = "10 Mbps", delay = "$delay", queue = "9 packets" }]
flows = [{ group = "g", path = ["A", "B"], tcp = "rfc", size = "20 kB", start = "1 ms" }]
failures = [{ link = ["A", "B"], at = "20 ms" }]
protection = [{ link = ["A", "B"], flows = "g", backup = ["A", "C", "B"], switch_delay = "5 ms" }]
forwarding = { entries = [{ node = "A", to = "B", next = "B" }] }
observe = [
    { name = "good", kind = "goodput", interval = "10 ms" },
    { name = "ends", kind = "completions" },
    { name = "lost", kind = "drops" },
    { name = "tcp", kind = "tcp" },
]
"""
MOST_S = 10
"""Maximum CPU time for a wrong argument, in s."""

WRONG = [
    None, True, False, 0, -1, 1, 3, 1.5, float("nan"), float("inf"), 1j, 2**64, 10**5000,
    "", "x", "1", "5 ms", "\ud800", "\0", "x" * 5000, b"x", [], [0], [1.5], ["x"], [None], [[1], [1, 2]], ["x", "x"],
    (), ("x", 1), {}, {"x": 1}, {1: "x"}, {"x": None}, {"good": []}, set(), range(3), slice(None), slice("a", 2.5),
    object(), Path("x"), iter(()), lambda *_: None, lambda *_: "x", lambda *_: [1, 2],
    np.int64(-3), np.float64("nan"), np.bool_(True), np.str_("x"), np.array(3), np.array([]), np.ones((2, 2)),
    np.array(["x"]), np.array([None, "x"], dtype=object), np.datetime64("2020-01-01"),
]  # fmt: skip

ALLOWED = (InputError, optcp.ScenarioError, RunFailed)
"""Errors that a command would also report."""

STATISTICS = {
    "ArrayLike": [0.0, 1.0, 1.0],
    "NDArray[Any]": np.ones((3, 4)),
    "NDArray[np.float64]": np.array([0.0, 1.0, 2.0]),
    "Sequence[NDArray[np.float64]]": [np.array([1.0, 2.0]), np.array([3.0])],
    "Sequence[NDArray[np.float64]] | None": None,
    "Sequence[float]": [0.01, 0.2],
    "Callable[[NDArray[np.float64]], NDArray[np.float64]]": lambda curves: curves.mean(axis=1),
    "float": 0.5,
    "int": 3,
    "bool": False,
    "Literal[1, 2]": 1,
}
"""A valid argument of each type for statistics."""


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    """Return one object of each public class, by name."""
    world = optcp.Scenario.parse(WORLD)
    study = optcp.Study(world, {"parameters.delay": ["1 ms", "2 ms"]}, seeds=2)
    done = study.run(tmp_path_factory.mktemp("study") / "done")
    cells = done["good"].cells()
    return {
        "Scenario": world,
        "Study": study,
        "StudyResult": done,
        "FreshRun": world.run(),
        "LiveRun": started(world),
        "Run": done.run(done.grid.branches[0], 1),
        "Observed": done["good"],
        "Table": done["ends"].table,
        "Cells": cells,
        "Samples": done.completions["g"],
        "Estimates": cells.mean(),
        "Axis": cells.axes[1],
        "Comparison": done.compare(at={"delay": "1 ms"}),
    }


class Silent:
    """Protection policy without orders."""

    def on_failure(self, run, ports):
        pass

    def on_repair(self, run, ports):
        pass


def started(world):
    """Return a run in progress, between the start of its flow and the failure."""
    run = world.start()
    run.advance("10 ms")
    return run


CLASSES = {
    "Scenario": optcp.Scenario,
    "LiveRun": optcp.LiveRun,
    "Study": optcp.Study,
    "StudyResult": optcp.StudyResult,
    "Run": optcp.Run,
    "FreshRun": FreshRun,
    "Observed": Observed,
    "Table": optcp.Table,
    "Cells": optcp.Cells,
    "Samples": optcp.Samples,
    "Estimates": optcp.Estimates,
    "Axis": Axis,
    "Comparison": Comparison,
}
MADE = {"Run", "FreshRun", "Observed", "StudyResult", "Comparison"}
"""Classes that only other functions instantiate."""

OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "pow",
    "radd",
    "rsub",
    "rmul",
    "rtruediv",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
)


def public(kind):
    """Return the public functions of a class, by name."""
    names = [name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")]
    operators = [f"__{name}__" for name in OPERATORS] if "__add__" in vars(kind) else []
    own = [name for name in ("__getitem__", *operators) if hasattr(kind, name)]
    return [name for name in [*names, *own] if parameters(getattr(kind, name))]


def parameters(function):
    return [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"]


def functions_of(module):
    return {
        name: function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and function.__module__ == module.__name__
    }


RIGHT = {
    "Scenario": {"core": lambda things: things["Scenario"].core},
    "Scenario.parse": {"text": WORLD, "name": "world.toml"},
    "Scenario.from_dict": {"content": {"stop": "1 s"}, "name": "world.toml"},
    "Scenario.set": {"key": "parameters.delay", "value": "3 ms"},
    "Scenario.run": {"seed": 1, "digest": False, "engine": "fast", "threads": 1},
    "Scenario.start": {"seed": 1, "digest": False, "engine": "fast"},
    "LiveRun": {"world": lambda things: things["Scenario"], "core": lambda things: things["LiveRun"].fork()._core},
    "LiveRun.advance": {"until": "11 ms"},
    "LiveRun.advance_until": {"time": "11 ms", "completed": "g", "dropped": 1, "rto": 1, "queue": ("A->B", 3)},
    "LiveRun.follow": {"policy": Silent(), "until": "30 ms", "detection": "1 ms"},
    "LiveRun.flow": {"name": "g"},
    "LiveRun.port": {"name": "A->B"},
    "LiveRun.path": {"flow": "g", "acks": True},
    "LiveRun.goodput": {"since": lambda things: things["LiveRun"].flows},
    "LiveRun.utilisation": {"since": lambda things: things["LiveRun"].ports},
    "LiveRun.change": {"key": "stop", "value": "50 ms"},
    "LiveRun.schedule": {"link": ["A", "B"], "values": ("rate", "5 Mbps")},
    "LiveRun.fail": {"link": ("A", "B")},
    "LiveRun.repair": {"link": ("A", "B")},
    "LiveRun.command": {"protection": "g", "command": "lockout"},
    "LiveRun.forward": {"node": "A", "to": "B", "next_node": "C"},
    "LiveRun.add_flow": {"values": ("group", "new")},
    "LiveRun.set_cwnd": {"flow": "g", "cwnd_bytes": 14_600},
    "Study": {
        "world": lambda things: things["Scenario"], "over": {"parameters.delay": ["1 ms"]}, "seeds": 1, "title": "x",
        "digest": False, "fork": True, "engine": "fast",
    },
    "Study.run": {
        "out": None, "jobs": 1, "executor": None, "threads": 1, "progress": None, "force": False, "until": None,
        "most": 2,
    },
    "StudyResult.open": {"directory": lambda things: things["StudyResult"].store.root},
    "StudyResult.once": {"reduce": repr},
    "StudyResult.runs": {"seed": 1},
    "StudyResult.run": {"branch": lambda things: things["StudyResult"].grid.branches[0], "seed": 1},
    "StudyResult.cells": {"values": np.ones((2, 2)), "more": (), "name": "x", "unit": "s", "at_least": np.ones((2, 2))},
    "StudyResult.each": {"function": lambda run: run.counts["sent"], "more": (), "name": "x", "unit": ""},
    "StudyResult.pieces": {"table": "ends"},
    "StudyResult.rows": {"table": "ends", "columns": ["time_ps"], "parts": None},
    "StudyResult.table": {"name": "ends", "columns": ["time_ps"]},
    "StudyResult.digests": {"name": "metrics_sha256"},
    "StudyResult.compare": {"at": {"delay": "1 ms"}, "metrics": ["sent"]},
    "StudyResult.report": {"path": "report.html"},
    "StudyResult.metric": {"name": "sent"},
    "StudyResult.__getitem__": {"name": "good"},
    "FreshRun.plot": {"kind": "goodput", "flow": (), "port": (), "start": "0 s", "end": "50 ms", "observation": "good"},
    "FreshRun.animation": {"start_s": 0.0, "end_s": 0.05},
    "FreshRun.__getitem__": {"name": "good"},
    "Run.plot": {"kind": "tcp", "flow": (), "port": (), "start": "0 s", "end": "50 ms", "observation": "tcp"},
    "Run.__getitem__": {"name": "good"},
    "Observed.cells": {"column": "bytes"},
    "Observed.between": {"start": "10 ms", "end": "30 ms", "column": "bytes"},
    "Observed.count": {"after": None, "until": None, "before": None, "where": ("group", "g")},
    "Observed.first": {"after": None, "until": None, "before": None, "where": ("bytes", 3)},
    "Table": {"columns": {"x": np.array([1.0])}, "interval_s": None},
    "Table.read": {"metadata": {}, "columns": {"x": np.array([1.0])}},
    "Table.numbers": {"name": "time_ps"},
    "Table.texts": {"name": "group"},
    "Table.distinct": {"name": "group"},
    "Table.is_": {"name": "group", "text": "g"},
    "Table.rows": {"which": slice(1)},
    "Table.where": {"texts": ("group", "g")},
    "Table.coded": {"name": "group"},
    "Table.__getitem__": {"name": "group"},
    "Cells": {
        "values": np.ones((2, 1)), "axes": (Axis("x", ("1",)),), "seeds": (1, 2), "name": "x", "unit": "s",
        "at_least": np.ones((2, 1)),
    },
    "Cells.named": {"name": "x", "unit": "s"},
    "Cells.axis": {"name": "time"},
    "Cells.at": {"where": ("group", "g")},
    "Cells.part": {"where": ("group", ["g"])},
    "Cells.renamed": {"names": ("group", "class")},
    "Cells.with_total": {"name": "group"},
    "Cells.where": {"holds": lambda things: things["Cells"] > 0},
    "Cells.total": {"names": ("time",)},
    "Cells.mean_over": {"names": ("time",)},
    "Cells.between": {"start": 0, "end": "20 ms", "axis": "time"},
    "Cells.each": {"function": np.sqrt, "unit": "s"},
    "Cells.wins": {"name": "time"},
    "Cells.minus_next": {"name": "time"},
    "Cells.quantile": {"q": 0.5},
    "Cells.plot": {"x": "time", "by": "delay", "columns": 1, "ax": None},
    **{f"Cells.__{name}__": {"other": 2} for name in OPERATORS},
    "Samples": {
        "values": np.array([[1.0], [2.0, 3.0]], dtype=object), "axes": (), "seeds": (1, 2), "name": "x", "unit": "s",
        "at_least": np.array([[1.0], [2.0, 3.0]], dtype=object),
    },
    "Samples.at": {"where": ("delay", "1 ms")},
    "Samples.per_seed": {"function": np.max},
    "Samples.quantile": {"q": 0.5},
    "Estimates": {
        "axes": (), "estimate": np.array(1.0), "low": np.array(0.0), "high": np.array(2.0), "n": np.array(2),
        "seeds": 2, "name": "x", "unit": "s", "at_least": None,
    },
    "Estimates.of": {"axes": (), "interval": lambda _: None, "seeds": 2, "name": "x", "unit": "s"},
    "Estimates.interval": {"at": (0, 0, 0)},
    "Estimates.times": {"factor": 100, "unit": "%"},
    "Estimates.known": {"value": 1.0, "where": ("delay", "1 ms")},
    "Estimates.plot": {"x": "time", "by": "delay", "columns": 1, "ax": None},
    "Axis": {"name": "x", "values": ("1", "2"), "unit": "s", "numbers": (1.0, 2.0), "labels": ("a", "b")},
    "Axis.part": {"which": [0]},
    "Axis.matches": {"other": Axis("x", ("1",))},
    "Axis.index": {"value": "10 ms"},
    "Axis.bound": {"value": "10 ms"},
    "load": {"path": "single-failure"},
    "compare": {"metrics": lambda things: {"x": things["Cells"]}, "at": {"delay": "1 ms"}},
}  # fmt: skip
"""Valid arguments of each function; each of them is replaced by wrong ones."""

FUNCTIONS = {"load": optcp.load, "compare": compare.compare}
STATISTICAL = {
    name: function
    for name, function in (functions_of(stats) | functions_of(quantiles)).items()
    if not name.startswith("bootstrap") and name not in ("percentile", "resampled_weights", "exact", "checked")
}
"""Functions that readers of a study call; the others work on resamples that these functions draw."""


def resolved(name, things):
    """Return the function of a name in RIGHT, bound to its object."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    kind, _, method = name.partition(".")
    if not method:
        return CLASSES[kind]
    if kind == "LiveRun":
        return on_fork(things[kind], method)
    return getattr(things[kind], method)


def on_fork(run, method):
    """Return a method that each call applies to another fork."""

    @functools.wraps(getattr(run, method))
    def call(*arguments, **named):
        return getattr(run.fork(), method)(*arguments, **named)

    return call


def called(function, arguments):
    """Call a function with arguments by name; return its value, or its message."""
    by_name, positional = {}, []
    kinds = {parameter.name: parameter.kind for parameter in inspect.signature(function).parameters.values()}
    for name, value in arguments.items():
        if kinds[name] is inspect.Parameter.VAR_POSITIONAL:
            positional = list(value)
        elif kinds[name] is inspect.Parameter.VAR_KEYWORD:
            by_name[value[0]] = value[1]
        elif kinds[name] is inspect.Parameter.POSITIONAL_ONLY or positional:
            positional.append(value)
        else:
            by_name[name] = value
    if positional:
        # Arguments before further positional arguments are positional.
        first = [name for name in arguments if kinds[name] is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        positional = [by_name.pop(name) for name in first] + positional
    began = time.process_time()
    with contextlib.suppress(*ALLOWED):
        result = function(*positional, **by_name)
        if inspect.isgenerator(result):
            list(result)
    assert time.process_time() - began < MOST_S


def variants(function, right):
    """Yield the valid arguments with one of them replaced by each wrong value."""
    kinds = {parameter.name: parameter.kind for parameter in inspect.signature(function).parameters.values()}
    for name, wrong in itertools.product(right, WRONG):
        if kinds[name] is inspect.Parameter.VAR_POSITIONAL:
            yield name, wrong, {**right, name: (wrong,)}
        elif kinds[name] is inspect.Parameter.VAR_KEYWORD:
            yield name, wrong, {**right, name: (right[name][0], wrong)}
            yield name, wrong, {**right, name: ("nosuch", wrong)}
        else:
            yield name, wrong, {**right, name: wrong}


def check(function, right):
    called(function, right)
    failed = []
    for name, wrong, arguments in variants(function, right):
        try:
            called(function, arguments)
        except Exception as error:  # noqa: BLE001 - each is what must not come out
            failed.append((name, shown(wrong), repr(error)[:100]))
    assert failed == []


def test_every_public_function_has_right_arguments():
    # The simulator calls the hooks of a CongestionControl.
    public_names = set(optcp.__all__) - {"InputError", "ScenarioError", "CongestionControl"}
    assert public_names <= set(CLASSES) | set(FUNCTIONS)
    methods = {f"{name}.{method}" for name, kind in CLASSES.items() for method in public(kind)}
    assert methods | (set(CLASSES) - MADE) | set(FUNCTIONS) == set(RIGHT)


@pytest.mark.filterwarnings("ignore")  # of NumPy, about what is wrong
@pytest.mark.parametrize("name", RIGHT)
def test_a_wrong_argument_has_a_message(name, things, tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    right = {
        key: value(things)
        if callable(value) and getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("things",)
        else value
        for key, value in RIGHT[name].items()
    }
    function = resolved(name, things)
    check(function, right)
    plt.close("all")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STATISTICAL)
def test_a_wrong_argument_of_a_statistic_has_a_message(name):
    function = STATISTICAL[name]
    right = {parameter.name: STATISTICS[parameter.annotation] for parameter in parameters(function)}
    check(function, right)


def test_numpy_scalars_count_as_numbers(things, tmp_path):
    world = things["Scenario"]
    assert world.run(seed=np.uint64(7), threads=np.int32(1)).seed == 7
    study = optcp.Study(world, {"parameters.delay": ["1 ms"]}, seeds=np.array([3, 1, 3]))
    assert study.seeds == (3, 1)
    assert {type(seed) for seed in study.seeds} == {int}
    assert optcp.Study(world, seeds=np.int16(2)).seeds == (1, 2)
    assert world.set("links.0.queue", {"kind": "drop-tail", "limit": "9 packets"}).sha256
    assert world.set("stop", np.str_("1 s")).stop_s == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda world, done: optcp.Study(world, {"parameters.delay": "50 ms"}),
            "axis 'parameters.delay': expected a list of values, such as ['50 ms'], got '50 ms'",
        ),
        (lambda world, done: optcp.Study(world, {"parameters.delay": []}), "axis 'parameters.delay' has no values"),
        (lambda world, done: optcp.Study(world, seeds=0), "seeds: expected a whole number from 1 to 1000000, got 0"),
        (lambda world, done: optcp.Study(world, seeds=[]), "seeds: the list is empty; a study has 1 seed or more"),
        (
            lambda world, done: optcp.Study(world, seeds=[2**64 - 1]).run(
                until=lambda done: done.metric("sent"), most=2
            ),
            "seed 18446744073709551616: the largest seed is 18446744073709551615",
        ),
        (lambda world, done: world.run(seed="1"), "seed: expected a whole number, got '1'"),
        (lambda world, done: world.run(seed=1.5), "seed: expected a whole number, got 1.5"),
        (lambda world, done: world.run(seed=-1), "seed -1: the smallest seed is 0"),
        (
            lambda world, done: done.run("x", 1),
            "branch: expected one of the branches of the study, such as done.grid.branches[0], got 'x'",
        ),
        (lambda world, done: done.table("scalar"), "the study has no table 'scalar'; did you mean 'scalars'?"),
        (
            lambda world, done: done.table("ends", ["time"]),
            "table 'ends' has no column 'time'; did you mean 'time_ps'?",
        ),
        (lambda world, done: done["good"].cells().part(group="g"), "values of axis 'group': expected a list, got 'g'"),
        (lambda world, done: done["good"].cells() + None, "operand: expected cells or a number, got None"),
        (lambda world, done: done["ends"].count(after=-1), "-1: expected a time from 0 s to 18446744 s"),
        (lambda world, done: stats.share(1, 0), "n: expected a whole number from 1 to 9007199254740992, got 0"),
    ],
)
def test_message_names_argument_and_expectation(call, sentence, things):
    with pytest.raises(InputError) as said:
        call(things["Scenario"], things["StudyResult"])
    assert str(said.value).startswith(sentence)


def test_a_run_that_is_not_there_is_named(things):
    done = things["StudyResult"]
    branch = done.grid.branches[0]
    with pytest.raises(InputError, match=f"no run of '{branch.id}' with seed 77"):
        done.run(branch, 77)


def test_an_observation_shows_its_rows_and_columns(things):
    shown = repr(things["StudyResult"]["ends"])
    assert shown.splitlines()[0] == "observation 'ends' of 'A short transfer': table of 4 rows"
    assert shown.splitlines()[1].split()[:4] == ["delay_s", "cell", "seed", "time_ps"]
    assert len(shown.splitlines()) == 6


@pytest.mark.parametrize("rows", [lambda things: things["Run"]["ends"], lambda things: things["StudyResult"]["ends"]])
def test_pandas_takes_a_table_and_an_observation_as_it_is(rows, things):
    pandas = pytest.importorskip("pandas")
    given = rows(things)
    frame, own = pandas.DataFrame(given), given.to_pandas()
    assert list(frame.columns) == list(own.columns)
    assert frame.to_dict("records") == own.to_dict("records") == list(given)
