"""Rows of Parquet files as text.

# Model

Each number or text becomes the text of the same value in a CSV file. A number becomes the shortest decimal number with
the same value. The file is read in batches of rows.

# References

Apache Parquet format; read by pyarrow, the extra ``parquet``.

# Limitations

Times are numbers in the unit of their column name. Columns of dates, durations and nested values are refused.
"""

from __future__ import annotations

import importlib
import io
from typing import TYPE_CHECKING, Any

from optcp.common import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".parquet"
BATCH = 1 << 16
"""Number of rows that are in memory as Python values."""
MOST_ROWS = 10_000_000
"""Maximum number of rows. A small compressed file can state any number."""


def read(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the names of the columns as row 0, then each row with its number and fields.

    Raises
    ------
    ValueError
        If pyarrow is not installed, the bytes are not a Parquet file, or a column contains other values; the message
        names column and row.
    """
    try:
        arrow, parquet, types = map(importlib.import_module, ("pyarrow", "pyarrow.parquet", "pyarrow.types"))
    except ImportError:
        raise ValueError("Parquet files need pyarrow; run `pip install 'optcp[parquet]'`") from None
    refusals = (arrow.ArrowException, OSError, ValueError)
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        schema, count = file.schema_arrow, file.metadata.num_rows
    except refusals as error:
        raise ValueError(f"not a Parquet file: {_first_line(error)}") from None
    if count > MOST_ROWS:
        raise ValueError(f"expected at most {MOST_ROWS} rows, found {count}")
    for field in schema:
        _check(field, types)
    yield 0, list(schema.names)
    before = 0
    try:
        for batch in file.iter_batches(BATCH):
            columns = [[_text(value) for value in column.to_pylist()] for column in batch.columns]
            yield from ((before + at, list(row)) for at, row in enumerate(zip(*columns, strict=True), 1))
            before += batch.num_rows
    except refusals as error:
        raise ValueError(f"after row {before}: {_first_line(error)}") from None


def _check(field: Any, types: Any) -> None:  # noqa: ANN401 - of pyarrow, which need not be installed
    kind = field.type.value_type if types.is_dictionary(field.type) else field.type
    tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_string, types.is_large_string)
    if not any(test(kind) for test in tests):
        raise ValueError(f"column `{rows.short(field.name)}`: expected numbers or texts, found {kind}")


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
