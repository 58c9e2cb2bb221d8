"""Effect of schedules on links over time, calculated by hand."""

import pytest

import optcp
from optcp.scenarios import schedules

WORLD = """
stop = "60 ms"
[[nodes]]
names = ["a", "core", "light", "b"]
[[links]]
chains = [["a", "core", "b"], ["a", "light", "b"]]
rate = "1 Gbps"
delay = "10 us"
queue = "100 packets"
[[voqs]]
name = "voq"
between = ["a", "b"]
ways = { packet = ["a", "core", "b"], circuit = ["a", "light", "b"] }
served = "packet"
queue = "100 packets"
[[flows]]
group = "f"
path = ["a", "b"]
"""
PERIODIC = """
[[schedules]]
period = "20 ms"
changes = [
  { at = "9 ms", link = "voq", direction = "forward", served = "none" },
  { at = "10 ms", link = "voq", served = "circuit" },
  { at = "19 ms", link = "voq", served = "packet" },
]
"""
TRACE = """
[[schedules]]
file = "moves.csv"
"""
MS = 10**9


def bands(text, start_ms, end_ms):
    resolved = optcp.Scenario.parse(text).resolved
    result = schedules.bands(resolved, start_ms * MS, end_ms * MS)
    return {band.name: [(a / MS, b / MS, state) for a, b, state in band.spans] for band in result}


def test_band_shows_state_between_changes():
    packet, none, circuit = "served packet", "served none", "served circuit"
    assert bands(WORLD + PERIODIC, 0, 30) == {
        "voq:a->b": [(0, 9, packet), (9, 10, none), (10, 19, circuit), (19, 29, packet), (29, 30, none)],
        "voq:b->a": [(0, 10, packet), (10, 19, circuit), (19, 30, packet)],
    }
    # In the middle of a period, the state is that of the previous change.
    assert bands(WORLD + PERIODIC, 41, 52) == {
        "voq:a->b": [(41, 49, packet), (49, 50, none), (50, 52, circuit)],
        "voq:b->a": [(41, 50, packet), (50, 52, circuit)],
    }


def test_loss_is_none_before_its_first_change():
    lossy = '[[schedules]]\nchanges = [{ at = "5 ms", link = ["a", "core"], loss = 0.02 }]\n'
    assert bands(WORLD + lossy, 0, 8) == {"a->core and 1 more": [(0, 5, "loss 0 %"), (5, 8, "loss 2 %")]}


def test_ports_with_equal_changes_share_a_band():
    once = """
[[schedules]]
changes = [
  { at = "5 ms", link = ["a", "core"], rate = "500 Mbps" },
  { at = "7 ms", link = ["a", "light"], delay = "20 us", transmitter = "holds" },
]
"""
    resolved = optcp.Scenario.parse(WORLD + once).resolved
    assert [(band.name, band.spans) for band in schedules.bands(resolved, 0, 10 * MS)] == [
        ("a->core and 1 more", ((0, 5 * MS, "1000000000 bit/s"), (5 * MS, 10 * MS, "500000000 bit/s"))),
        ("a->light and 1 more", ((0, 7 * MS, "delay 10 us"), (7 * MS, 10 * MS, "delay 20 us"))),
        ("a->light and 1 more", ((0, 7 * MS, "sends"), (7 * MS, 10 * MS, "holds"))),
    ]


def test_a_schedule_is_read_from_a_file(tmp_path):
    scenario = tmp_path / "world.toml"
    scenario.write_text(WORLD + TRACE)
    moves = tmp_path / "moves.csv"
    moves.write_text("at (ms),link,delay (us),rate  # of a satellite\n1,a-core,12.5,\n2,a-core,,2 Gbps\n")
    steps = optcp.load(scenario).resolved["schedules"][0]["steps"]
    assert [step["after_ps"] for step in steps] == [1 * MS, 2 * MS]
    assert steps[0]["changes"][0] == {"port": "a->core", "delay_ps": 12_500_000}
    assert steps[1]["changes"][1] == {"port": "core->a", "rate_bps": 2_000_000_000}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("at,link\n1 ms,a-core\n", "`moves.csv`, line 2: change without effect"),
        ("at,link,rate\n1 ms,a-core,fast\n", "`moves.csv`, line 2: "),
        ("at,link,rate\n1 ms,a-cor,1 Gbps\n", "`moves.csv`, line 2: unknown link `a-cor`"),
        ("at,link,speed\n1 ms,a-core,1 Gbps\n", "`moves.csv`, line 2: unknown key `speed`"),
        ("at,at,rate\n1 ms,a-core,1 Gbps\n", "`moves.csv`, line 1: expected a name for each column"),
        ("at,link\n1 ms,a-core,1 Gbps\n", "`moves.csv`, line 2: 3 fields, and 2 columns"),
        ("at,link,rate\n", "`moves.csv` has no change"),
    ],
)
def test_bad_file_is_named_with_line(tmp_path, text, said):
    scenario = tmp_path / "world.toml"
    scenario.write_text(WORLD + TRACE)
    (tmp_path / "moves.csv").write_text(text)
    with pytest.raises(optcp.ScenarioError) as problem:
        optcp.load(scenario)
    assert said in str(problem.value)


def test_a_missing_file_is_named(tmp_path):
    scenario = tmp_path / "world.toml"
    scenario.write_text(WORLD + TRACE)
    with pytest.raises(optcp.ScenarioError, match=r"cannot read `moves.csv`"):
        optcp.load(scenario)
