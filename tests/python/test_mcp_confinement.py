"""`optcp mcp`: no path, program or Python code outside the directory of the server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import optcp
from mcp_client import LINK, TRIANGLE, calls, problem, written

OUTSIDE = {
    "parent": ("validate", {"scenario": "../secret.toml"}),
    "absolute": ("validate", {"scenario": "{outer}/secret.toml"}),
    "link": ("validate", {"scenario": "link.toml"}),
    "linked folder": ("show", {"scenario": "folder/secret.toml"}),
    "write": ("new", {"file": "../new.toml"}),
    "write through a link": ("new", {"file": "link.toml", "force": True}),
    "schema is a link": ("new", {"file": "below/new.toml", "force": True}),
    "topology": ("validate", {"scenario": "topology.toml"}),
    "topology by setting": (
        "validate",
        {"scenario": "topology.toml", "settings": {"topology.file": "{outer}/net.gml"}},
    ),
    "linked topology": ("validate", {"scenario": "topology.toml", "settings": {"topology.file": "net-link.gml"}}),
    "list of flows": ("validate", {"scenario": "flows.toml"}),
    "schedule": ("validate", {"scenario": "schedule.toml"}),
    "results": ("run", {"scenario": "good.toml", "directory": "../results"}),
    "linked results": ("run", {"scenario": "good.toml", "directory": "folder/results"}),
    "study": ("compare", {"directory": "{outer}/study", "at": {"x": "1"}}),
    "network": ("outage", {"network": "../net.gml"}),
    "absolute network": ("outage", {"network": "{outer}/net.gml"}),
    "demands": ("outage", {"network": "sndlib/abilene", "demands": "../demands.csv"}),
    "paths": ("outage", {"network": "sndlib/abilene", "paths": "{outer}/paths.csv"}),
    "home": ("validate", {"scenario": "~/secret.toml"}),
}


def test_nothing_outside_the_directory_is_read_or_written(tmp_path):
    inner = tmp_path / "inner"
    (inner / "below").mkdir(parents=True)
    (tmp_path / "secret.toml").write_text(LINK.replace("One link", "SECRET"))
    (tmp_path / "net.gml").write_text(TRIANGLE.replace('"A"', '"SECRET"'))
    (tmp_path / "demands.csv").write_text("SECRET,B,1\n")
    (tmp_path / "paths.csv").write_text("from,to,path\nSECRET,B,SECRET B\n")
    (tmp_path / "flows.csv").write_text("SECRET\n")
    (inner / "link.toml").symlink_to(tmp_path / "secret.toml")
    (inner / "net-link.gml").symlink_to(tmp_path / "net.gml")
    (inner / "below" / "optcp.schema.json").symlink_to(tmp_path / "schema.json")
    (inner / "folder").symlink_to(tmp_path)
    network = 'rate = "1 Mbps"\ndelay = "1 ms"\nqueue = "9 packets"\n'
    flows = '[[flows]]\ngroup = "g"\nlist = "../flows.csv"\ntcp = "rfc"\n'
    schedule = '[[schedules]]\nlink = ["A", "B"]\nfile = "../flows.csv"\n'
    written(
        inner,
        good=LINK,
        topology=f'stop = "1 s"\n[topology]\nfile = "../net.gml"\n{network}',
        flows=f'stop = "1 s"\n[topology]\nname = "sndlib/abilene"\n{network}[routing]\n{flows}',
        schedule=LINK + schedule,
    )
    before = {path: path.read_bytes() for path in tmp_path.glob("*") if path.is_file()}
    wanted = [
        (tool, json.loads(json.dumps(arguments).replace("{outer}", str(tmp_path))))
        for tool, arguments in OUTSIDE.values()
    ]
    for name, result in zip(OUTSIDE, calls(inner, *wanted), strict=True):
        assert "SECRET" not in str(result.content), name
        assert "outside the directory of the server" in str(result.content) or "symbolic link" in str(result.content), (
            name
        )
        assert result.structured_content["kind"] == "outside", name
    assert {path: path.read_bytes() for path in tmp_path.glob("*") if path.is_file()} == before
    assert {path.name for path in tmp_path.iterdir()} == {*(path.name for path in before), "inner"}


def test_python_code_of_a_scenario_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(
        f"import optcp\nopen({str(tmp_path / 'ran')!r}, 'w').close()\nclass Own(optcp.CongestionControl): pass\n"
    )
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    own = '[tcp.own]\nprofile = "linux-6"\ncongestion = "python:mine.Own"\n'
    written(tmp_path, own=LINK.replace('tcp = "linux-6"', 'tcp = "own"') + own)
    (result,) = calls(tmp_path, ("validate", {"scenario": "own.toml"}))
    assert "`mine.Own` is Python code, which is not run here" in problem(result, "input")["message"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/hostname')",
        "open('../file', 'w')",
        "import os; os.remove('../file')",
        "import os; os.mkdir('../folder')",
        "import os; os.symlink('a', '../link')",
        "import os; os.rename('inside', '../outside')",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
    ],
)
def test_confined_process_is_refused_files_programs_and_connections(tmp_path, code):
    (tmp_path / "inner").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "inner" / "inside").write_text("")
    text = (
        "import os, socket, subprocess\nfrom optcp.mcp import fence\nfence.close(())\n"
        "open('mine', 'w').write('x'); assert open('mine').read() == 'x'\n"
        f"try:\n    {code}\nexcept PermissionError as error:\n    print('refused')\n"
    )
    python_path = str(Path(optcp.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-P", "-c", text], cwd=tmp_path / "inner", capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": python_path},
    )  # fmt: skip
    assert done.stdout == "refused\n"
    assert {path.name for path in tmp_path.iterdir()} == {"inner", "file"}
