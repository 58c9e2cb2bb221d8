"""Cores of burst switches with the compiled simulator: contention in the output of `optcp run`."""

import pyarrow.parquet
import pytest


def erlang_b(erlangs, wavelengths):
    """Return Erlang's formula B by recursion."""
    blocked = 1.0
    for n in range(1, wavelengths + 1):
        blocked = erlangs * blocked / (n + erlangs * blocked)
    return blocked


def test_contention_is_shown_with_its_interval(command, tmp_path):
    done = command("run", "erlang-b", "--set", "parameters.erlangs=2", "--runs", 5, "--out", "out")
    lines = done.stdout.split("blocked bursts")[1].split("packet loss")[0].strip().split("\n")
    assert lines[0].split() == [
        *("fibre", "burst_loss", "95", "%", "interval", "n"),
        *("bursts", "95", "%", "interval", "wavelength_utilisation", "95", "%", "interval"),
    ]
    shown = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    lost, low, high, n, bursts, _, _, utilisation, _, _ = shown["S->D"]
    low, high = (float(text.strip("[],%")) / 100 for text in (low, high))
    assert low < erlang_b(2, 4) < high
    assert n == "5"
    # The carried load is A (1 - B) / W.
    assert float(utilisation) == pytest.approx(2 * (1 - erlang_b(2, 4)) / 4, rel=0.02)
    assert "D->S" not in shown, "no burst asked for it"
    table = pyarrow.parquet.read_table(tmp_path / "out" / "fibres")
    rows = [row for row in table.to_pylist() if row["fibre"] == "S->D"]
    assert sum(row["bursts"] for row in rows) == pytest.approx(5 * float(bursts), abs=0.5)
    shares = [row["lost"] / row["bursts"] for row in rows]
    assert float(lost.strip("%")) / 100 == pytest.approx(sum(shares) / 5, abs=6e-6)


def test_in_a_mesh_void_filling_and_conversion_help(command):
    def lost(*setting):
        done = command(
            "run",
            "burst-core",
            "--set",
            "observe.0.after=20 ms",
            "--set",
            "observe.0.interval=20 ms",
            "--set",
            "stop=40 ms",
            *setting,
            "--out",
            "-".join(("out", *setting[1:])),
        )
        row = next(line for line in done.stdout.split("\n") if line.startswith("all "))
        return float(row.split()[1].strip("%"))

    filling = lost()
    assert filling < lost("--set", "core.scheduling=horizon") < lost("--set", "core.conversion=none")
