"""Settings of experiments: from unstated parameters, and as text."""

import pytest

from optcp.papers.assume import AS_PROFILE, Assumed, overrides, positive
from optcp.papers.exhibit import once, runs_of
from optcp.papers.options import Size
from optcp.scenarios.scenario import as_written


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("rate_mbps", 2.5, "2.5 Mbps"),
        ("backbone_bps", 10_000_000, "10000000 bps"),
        ("packet_bytes", 1000, "1000 B"),
        ("start_s", 1.0, "1 s"),
        ("window_packets", "unlimited", "unlimited"),
        ("load", 0.6, 0.6),
    ],
)
def test_a_parameter_sets_its_key_path_in_the_unit_of_its_name(name, value, text):
    assert Assumed(name, value, positive, "a.b").settings(value) == {"a.b": text}


def test_a_parameter_sets_several_key_paths_nothing_or_what_a_function_says():
    both = Assumed("window_packets", 30, positive, ("a", "b"))
    none = Assumed("flows", "10+10", str)
    own = Assumed("start_ms", 5.0, positive, lambda value: {"c": f"uniform(0 s, {value:g} ms)"})
    chosen = {"window_packets": 20, "flows": "10+10", "start_ms": 7.0}
    found = overrides((both, none, own), chosen)
    assert found == {"a": "20 packets", "b": "20 packets", "c": "uniform(0 s, 7 ms)"}
    assert both.settings(AS_PROFILE) == {}


def test_tables_and_lists_are_written_as_toml():
    queue = {"kind": "codel", "limit": "20 packets", "ecn": True, "a key": [1, 0.5, []]}
    assert as_written(queue) == '{ kind = "codel", limit = "20 packets", ecn = true, "a key" = [1, 0.5, []] }'
    assert as_written("50 ms") == "50 ms"


def test_grids_have_numbers_of_seeds_of_their_own():
    seeds = runs_of(100, 5, {"packets": (100, 2), "slow": (100, 0), "probe": 1})
    sizes = (Size("default"), Size("quick"), Size.asked(True, 7), Size("until-decided, most=2", times=2))
    assert [seeds("grid", size) for size in sizes] == [100, 5, 7, 200]
    assert [seeds("packets, listed", size) for size in sizes] == [100, 2, 7, 200]
    assert [seeds("slow", size) for size in sizes] == [100, 0, 0, 200]
    assert {seeds("probe", size) for size in sizes} == {once("any", size) for size in sizes} == {1}
