"""Tables of results show every value completely, for any output width."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from optcp.papers.model import Result, Row
from optcp.papers.registry import exhibits
from optcp.papers.show import show_result, show_results, size_text

KEY = {"bundling_degree": 2, "flows_per_lightpath": 100, "anycast": "with minus without", "profile": "inet-2011"}
VALUES = ["8.39", "8.29", "[7.63, 8.96]", "12", "undecided"]


def lightpaths(paper_runs=1):
    row = Row(KEY, "throughput_gbps", 8.39, 8.29, (7.63, 8.96), 12, "undecided")
    return Result(
        exhibit="lbas/table1",
        title="Throughput",
        source={"paper": "LBAS", "where": "Table 1"},
        size={"name": "quick", "seeds": {"a": 1}, "paper_runs": paper_runs},
        assumed={},
        changed={},
        rows=[row],
        claims=[],
        notes=[],
        provenance={"seeds": [1, 1]},
        series=[],
    )


def printed(width, terminal):
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)
    show_result(console, lightpaths())
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 100, 140])
def test_a_terminal_folds_keys_and_keeps_values_whole(width):
    lines = printed(width, True)
    assert "…" not in "".join(lines)
    (line,) = (line for line in lines if "undecided" in line)
    assert line.replace("[7.63, 8.96]", "[7.63,8.96]").split()[-5:] == [value.replace(" ", "") for value in VALUES]
    if width >= 80:
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", [40, 80, 100])
def test_folded_key_is_complete(width):
    lines = printed(width, True)
    table = lines[next(i for i, line in enumerate(lines) if "flow" in line) : -1]
    start, end = (next(at for line in table if (at := line.find(word)) >= 0) for word in ("flow", "anyc"))
    assert "".join(line[start:end].strip() for line in table) == "flows_per_lightpath100"


def test_table_has_full_width_without_terminal():
    lines = printed(80, False)
    (line,) = (line for line in lines if "undecided" in line)
    for text in [*map(str, KEY.values()), "throughput_gbps", *VALUES]:
        assert text in line
    (head,) = (line for line in lines if "95 % interval" in line)
    assert all(name in head for name in KEY)


def test_papers_runs_are_omitted_if_unknown():
    assert size_text(lightpaths(15)) == "size quick: 1 seed (a), seed 1; the paper had 15 runs"
    assert size_text(lightpaths(None)) == "size quick: 1 seed (a), seed 1"
    beyond = ["gmpls/aqm", "gmpls/every-scheme", "gmpls/layers", "gmpls/mesh", "das/mechanisms", "das/repairs"]
    beyond += ["obs/assembly", "obs/background", "obs/cut", "obs/emergent", "obs/today"]
    beyond += [f"lbas/{name}" for name in ("buffer", "choices", "failing", "inelastic", "mix", "row", "scale")]
    beyond += [f"lbas/{name}" for name in ("switch", "today", "trends")]
    beyond += [id_ for id_ in exhibits() if id_.startswith(("buffers/", "outage/", "prr/", "reconfigurable/", "leo/"))]
    beyond += ["rdcn/reconfiguration", "rdcn/rules"]
    assert {id_ for id_, item in exhibits().items() if item.paper_runs is None} == set(beyond)


def summary(results):
    console = Console(file=io.StringIO(), width=100, force_terminal=False, color_system=None)
    show_results(console, results)
    return [line.split() for line in console.file.getvalue().splitlines()]


def test_several_results_are_a_line_each_with_the_counts_of_verdicts():
    one = lightpaths()
    verdicts = ["match", "match", "near", "differs", "undecided", "claim-only"]
    full = replace(one, rows=[replace(one.rows[0], verdict=verdict) for verdict in verdicts])
    lines = summary([full, replace(one, exhibit="lbas/none", rows=[])])
    assert lines[3:6] == [
        ["lbas/table1", "2", "1", "1", "1", "-", "-", "-"],
        ["lbas/none", *"-------"],
        ["all", "2", "2", "1", "1", "1", "-", "-", "-"],
    ]
    assert lines[6][:2] == ["Quick", "size:"]


def test_one_result_is_printed_with_its_values():
    assert any("8.29" in line for line in summary([lightpaths()]))


def test_values_without_a_published_one_stay_in_the_file():
    one = lightpaths()
    unpublished = replace(one.rows[0], paper=None, measured=7.77)
    lines = summary([replace(one, rows=[*one.rows, unpublished])])
    assert not any("7.77" in line for line in lines)
    assert ["1", "row", "without", "a", "published", "value:", "see", "the", "JSON", "file"] in lines
