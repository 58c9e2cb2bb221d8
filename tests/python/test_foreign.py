"""Files with arbitrary content are read, or refused with a message that names the file."""

import pytest

import foreign

MADE = 200


@pytest.mark.parametrize("target", foreign.TARGETS)
def test_foreign_file_is_read_or_refused(target):
    mutator = foreign.Mutator(target)
    made = (mutator.change(mutator.texts[seed % len(mutator.texts)], seed) for seed in range(MADE))
    for data in (*mutator.texts, *made):
        try:
            foreign.TARGETS[target](data)
        except Exception as error:
            raise AssertionError(f"keep this input in fuzz/corpus/{target}: {data!r}") from error
