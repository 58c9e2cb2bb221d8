"""Both kernels make the same run on a topology by name; Rust's tests compare every shipped scenario."""

import json

LINK = 'failures.0.link=["Hamburg", "Kiel"]'


def test_the_kernels_agree_on_a_network_of_fifty_nodes(command, tmp_path):
    found = []
    for kernel in ("reference", "fast"):
        command("run", "germany50", "--set", LINK, "--digest", "--kernel", kernel, "--out", kernel)
        (meta,) = (json.loads(path.read_text()) for path in (tmp_path / kernel).glob("**/meta.json"))
        assert meta["kernel"] == kernel
        assert meta["counts"]["packet_hops"] > 100_000
        found.append((meta["records_sha256"], meta["metrics_sha256"]))
    assert found[0] == found[1]
