"""Studies for tests, run with the compiled simulator in a process of its own."""

import json
import subprocess
import sys

CODE = """
import json, sys
import optcp
world, settings, over, seeds, out = json.loads(sys.argv[1])
world = optcp.load(world).set(settings) if settings else optcp.load(world)
optcp.Study(world, over, seeds=seeds, digest=True).run(out, jobs=1)
"""


def study_in(place, world, *, settings=None, over=None, seeds=1, out="out"):
    """Return the directory of a study of a scenario, in a folder."""
    asked = json.dumps([world, settings, over, seeds, out])
    done = subprocess.run([sys.executable, "-c", CODE, asked], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / out
