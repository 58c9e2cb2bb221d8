"""Write the pages of the documentation into the package, where `search_docs` of `optcp mcp` finds them.

`make wheel` and `make sdist` run it. It needs neither the compiled simulator nor any other package.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from optcp.mcp.pages import PACKED, packed  # noqa: E402 - from this checkout

# A source archive has the result in place of the pages.
if (ROOT / "docs" / "reference").is_dir():
    PACKED.write_bytes(packed(ROOT / "docs"))
