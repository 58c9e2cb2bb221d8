"""Equality of both engines on a named topology; Rust tests compare every shipped scenario."""

from optcp import StudyResult

LINK = 'failures.0.link=["Hamburg", "Kiel"]'


def test_the_engines_agree_on_a_network_of_fifty_nodes(command, tmp_path):
    found = []
    for engine in ("reference", "fast"):
        command("run", "germany50", "--set", LINK, "--digest", "--engine", engine, "--out", engine)
        ((_, (run,)),) = StudyResult.open(tmp_path / engine)
        assert run.counts["packet_hops"] > 100_000
        found.append((run.records_sha256, run.metrics_sha256))
    assert found[0] == found[1]
