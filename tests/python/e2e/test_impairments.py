"""Impairments of lines other than loss: bit errors, duplication, reordering."""

import numpy as np
import pytest

import optcp
from optcp import _core

LINE = """
stop = "40 s"
[tcp.all]
profile = "linux-6"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "12 Mbps"
delay = "10 ms"
queue = "unlimited"
{link}
{rest}
[[observe]]
name = "packets"
kind = "packets"
links = [["A", "B"]]
"""
DATAGRAMS = """
[[traffic]]
group = "d"
path = ["A", "B"]
process = "constant"
rate = "{rate} packets/s"
size = "1500 B"
"""
FLOW = """
[[flows]]
group = "f"
path = ["A", "B"]
tcp = "all"
size = "{size}"
"""


def run(link="", rest="", seed=1, **options):
    return optcp.Scenario.parse(LINE.format(link=link, rest=rest), "line.toml").run(seed, **options)


def lost(run, reason):
    return run.drops.get(reason, 0)


def test_bit_errors_spoil_long_packets_that_have_used_the_line():
    """24 000 packets of 12 000 bits at an error rate of 1e-5: 1 - (1 - 1e-5)^12000 = 11.308 %, sd 0.2 %."""
    rate = 'kind = "corruption"\nbit_error_rate = 1e-5\n'
    found = run(rest=DATAGRAMS.format(rate=600) + f'[[losses]]\nlink = ["A", "B"]\n{rate}')
    sent = found.counts["sent"]
    share = lost(found, "corrupted") / sent
    assert share == pytest.approx(0.11308, abs=4 * np.sqrt(0.11308 * 0.88692 / sent))
    table = found["packets"]
    # A corrupted packet leaves the port like any other, and is lost after its last bit is sent, 1 ms after its arrival.
    assert len(table.where(event="transmitted")) == sent - found.counts["in_flight"] + on_the_way(table)
    spoilt = table.where(reason="corrupted")
    came = table.where(event="queued")
    times = dict(zip(came["seq"].tolist(), came["time_ps"].tolist(), strict=True))
    assert {at - times[seq] for seq, at in zip(spoilt["seq"].tolist(), spoilt["time_ps"].tolist(), strict=True)} == {
        10**9
    }


def on_the_way(table):
    """Count packets that were sent and have neither arrived nor been lost on the line."""
    return (
        len(table.where(event="transmitted")) - len(table.where(event="arrived")) - len(table.where(reason="corrupted"))
    )


def test_copies_use_line_time_without_harm():
    """Every segment is duplicated: the receiver reports it by DSACK, and the bottleneck needs twice the time."""
    plain = run(rest=FLOW.format(size="3 MB"))
    double = 'kind = "duplication"\nprobability = 1\n'
    found = run(rest=FLOW.format(size="3 MB") + f'[[losses]]\nlink = ["A", "B"]\n{double}')
    segments = len(plain["packets"].where(event="sent"))
    assert len(found["packets"].where(event="sent")) == segments
    assert len(found["packets"].where(event="resent")) == 0
    assert found.counts["copied"] == segments
    assert len(found["packets"].where(event="arrived")) == 2 * segments
    took = [item["packets"].where(event="arrived")["time_ps"][-1] / 1e12 for item in (plain, found)]
    # 3 MB are 2055 segments of 1500 B on the wire: 2.055 s at 12 Mb/s, twice as much with copies.
    assert took[1] - took[0] == pytest.approx(segments * 1500 * 8 / 12e6, rel=0.1)


def test_copies_are_as_many_as_trials_give():
    double = 'kind = "duplication"\nprobability = 0.2\n'
    found = run(rest=DATAGRAMS.format(rate=500) + f'[[losses]]\nlink = ["A", "B"]\n{double}')
    sent = found.counts["sent"]
    assert found.counts["copied"] / sent == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / sent))


def arrivals(found):
    return found["packets"].where(event="arrived")["seq"]


def test_packets_overtake_each_other_by_jitter_only_if_they_may():
    """A packet every 2 ms, delayed exponentially with mean 2 ms: the next one overtakes with e^-1 / 2 = 18.4 %."""
    kept = 'jitter = "exponential(2 ms)"'
    in_order = arrivals(run(kept, DATAGRAMS.format(rate=500)))
    assert (np.diff(in_order.astype(int)) == 1).all()
    free = run(f"{kept}\novertaking = true", DATAGRAMS.format(rate=500))
    table = free["packets"]
    arrived = table.where(event="arrived")
    order = np.argsort(arrived["seq"])
    when = arrived["time_ps"][order].astype(np.int64)
    assert len(when) > 19_900
    assert np.mean(np.diff(when) < 0) == pytest.approx(np.exp(-1) / 2, abs=0.015)


def test_reordering_counts_exclude_copies():
    world = 'jitter = "exponential(3 ms)"\novertaking = true'
    seen = '[[observe]]\nname = "order"\nkind = "reordering"\n'
    found = run(world, FLOW.format(size="3 MB") + seen)
    table = found["packets"]
    late, resent, most = [], set(), -1
    for event, seq in zip(table.texts("event"), table["seq"].tolist(), strict=True):
        if event == "resent":
            resent.add(seq)
        elif event == "arrived":
            if seq < most and seq not in resent:
                late.append(seq)
            most = max(most, seq)
    assert found["order"].where(event="overtaken")["seq"].tolist() == late
    assert len(late) > 100
    double = '[[losses]]\nlink = ["A", "B"]\nkind = "duplication"\nprobability = 0.5\n'
    copies = run("", FLOW.format(size="3 MB") + double + seen)
    assert len(copies["order"].where(event="overtaken")) == 0


@pytest.mark.parametrize("kind", ['"duplication"\nprobability = 0.05', '"corruption"\nbit_error_rate = 1e-6'])
def test_engines_agree(kind):
    link = 'jitter = "lognormal(2 ms, 3 ms)"\novertaking = true'
    rest = FLOW.format(size="2 MB") + f'[[losses]]\nlink = ["A", "B"]\nkind = {kind}\npackets = "both"\n'
    rest += '[[losses]]\nlink = ["B", "A"]\nkind = "duplication"\nprobability = 0.1\npackets = "acks"\n'
    one, other = (run(link, rest, engine=engine, digest=True) for engine in ("fast", "reference"))
    assert one.records_sha256 == other.records_sha256


def test_delays_come_from_a_file(tmp_path):
    (tmp_path / "delays.txt").write_text("# measured\n3\n7.5\n\n12 # far\n")
    text = LINE.format(link="", rest=FLOW.format(size="1 MB")).replace('"10 ms"', '"file(delays.txt, ms)"')
    world = optcp.Scenario.parse(text, str(tmp_path / "line.toml"))
    drawn = world.resolved["links"][0]["forward"]["delay_ps"]
    assert drawn == {"choice": [3_000_000_000, 7_500_000_000, 12_000_000_000]}
    assert world.sha256 == world.set("links.0.delay", "choice(3 ms, 7.5 ms, 12 ms)").sha256
    first = {int(world.run(seed)["packets"].where(event="arrived")["time_ps"][0]) - 10**9 for seed in range(1, 21)}
    assert first == {3_000_000_000, 7_500_000_000, 12_000_000_000}


@pytest.mark.parametrize(
    ("content", "unit", "says"),
    [
        ("", ", ms", "`delays.txt` has no values"),
        ("1, 2\n", ", ms", "`delays.txt`, line 1: expected one value"),
        ("1\nfast\n", ", ms", "fast ms"),
        ("1\n", "", "a duration"),
        (None, "", "cannot read `delays.txt`"),
    ],
)
def test_a_file_that_holds_no_values_is_named(tmp_path, content, unit, says):
    if content is not None:
        (tmp_path / "delays.txt").write_text(content)
    text = LINE.format(link="", rest=FLOW.format(size="1 MB")).replace('"10 ms"', f'"file(delays.txt{unit})"')
    with pytest.raises(_core.ScenarioError) as error:
        optcp.Scenario.parse(text, str(tmp_path / "line.toml"))
    assert says in str(error.value)
