"""Fuzzing of the Python readers by libFuzzer (Atheris): ``python fuzz/python.py TARGET [libFuzzer's options]``."""

import sys
from pathlib import Path

import atheris
import numpy  # noqa: ICN001, F401 - before anything is instrumented: it is large, and not what is fuzzed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python"))

with atheris.instrument_imports(include=["optcp", "networkx", "json"]):
    import networkx as nx  # noqa: F401 - the readers import it late

    import foreign

target = sys.argv.pop(1)
check = foreign.TARGETS[target]
mutator = foreign.Mutator(target)


def change(data: bytes, most: int, seed: int) -> bytes:
    """Alternate between our mutations and libFuzzer's."""
    return mutator.change(data, seed)[:most] if seed % 2 else atheris.Mutate(data, most)


atheris.Setup(sys.argv, check, custom_mutator=change)
atheris.Fuzz()
