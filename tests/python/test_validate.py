"""Parameter combinations in ``optcp validate``."""

from pathlib import Path

import pytest

WORLD = """stop = "1 s"
parameters = { start = "0 s" }
[tcp.host]
profile = "quic"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "10 Mbps"
delay = "1 ms"
queue = "20 packets"
[[flows]]
group = "g"
path = ["A", "B"]
tcp = "host"
start = "$start"
"""


@pytest.fixture
def validate(optcp):
    def one(sweep):
        Path("world.toml").write_text(WORLD + sweep, encoding="utf-8")
        return optcp("validate", "world.toml")

    return one


@pytest.mark.parametrize("axis", ["[sweep]\n", '[sweep.other]\na = {}\nb = { stop = "2 s" }\n[sweep]\n'])
def test_an_invalid_value_of_an_axis_is_an_error(validate, axis):
    status, out, err = validate(axis + '"tcp.host.ecn" = ["off", "dctcp"]\n')
    assert (status, out) == (2, "")
    assert "tcp.host.ecn = dctcp" in err
    assert '`recovery = "quic"` needs `ecn = "accurate"` or `ecn = "off"`' in err


def test_an_invalid_combination_of_valid_values_is_an_error(validate):
    sweep = '[sweep]\n"tcp.host.profile" = ["linux-6", "quic"]\n"tcp.host.ecn" = ["off", "rfc3168"]\n'
    status, out, err = validate(sweep)
    assert (status, out) == (2, "")
    assert '`recovery = "quic"` needs' in err


def test_a_large_sweep_says_how_many_combinations_were_checked(validate):
    starts = ", ".join(f'"{time} ms"' for time in range(42))
    stops = ", ".join(f'"{time} s"' for time in range(1, 31))
    status, out, err = validate(f'[sweep]\n"parameters.start" = [{starts}]\nstop = [{stops}]\n')
    assert status == 0, err
    assert "checked: the first 1000 of 1260 parameter combinations" in out
