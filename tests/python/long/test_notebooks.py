"""Output of the notebooks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "docs" / "tutorials"


def cells(path):
    """Return sources, and outputs without pixels of pictures, which depend on the fonts of the machine."""
    result = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = bool(output["data"]["image/png"])
        result.append(cell)
    return result


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.ipynb")))
def test_notebook_output_matches_stored_output(name, tmp_path):
    command = [sys.executable, str(FOLDER / "execute.py"), str(FOLDER / name), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = cells(FOLDER / name)
    assert stored == cells(tmp_path / name)
    assert sum(cell["cell_type"] == "code" and bool(cell["outputs"]) for cell in stored) >= 2


TWICE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from execute import execute
code = [cell for cell in json.load(open(sys.argv[2], encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
for _ in range(2):
    space = {"__name__": "__main__"}
    printed = [json.dumps(execute(cell, space)) for cell in code]
    assert not any("Error: " in text for text in printed), printed
"""


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.ipynb")))
def test_a_notebook_can_be_executed_a_second_time_in_its_folder(name, tmp_path):
    command = [sys.executable, "-c", TWICE, str(FOLDER), str(FOLDER / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
