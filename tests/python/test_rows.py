"""CSV files of users: encodings, separators, quotes, headings, and exact weights."""

import codecs
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, strategies

from optcp.common.rows import decoded, rows
from optcp.errors import InputError
from optcp.scenarios import topologies, weights


def fields(text):
    return [row for _, row in rows(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b,c", [["a", "b", "c"]]),
        (' a , "b, c" ,d ', [["a", "b, c", "d"]]),
        ('"say ""hello""",2', [['say "hello"', "2"]]),
        ("a;b;3,5\nc;d;4", [["a", "b", "3,5"], ["c", "d", "4"]]),
        ("a\tb\t\n\tb\tc", [["a", "b", ""], ["", "b", "c"]]),
        ('"A #1",B,3 # a remark, with "quotes\n', [["A #1", "B", "3"]]),
        ("# head\n\n  \n,,\n#\na,b\n", [["a", "b"]]),
        ("a,b\u2028c\x0bd\x85e,f", [["a", "b\u2028c\x0bd\x85e", "f"]]),
    ],
)
def test_rows_have_fields_without_spaces_quotes_and_comments(text, expected):
    assert fields(text) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_numbers_count_every_line(end):
    assert list(rows(decoded(end.join(["# one", "", "a,b", "", "c,d"]).encode()))) == [(3, ["a", "b"]), (5, ["c", "d"])]


def test_quote_that_is_not_closed_names_its_line():
    with pytest.raises(ValueError, match="line 2: a quoted field is not closed"):
        fields('a,b\n"c,d\ne,f\n')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_names_the_encoding(encoding):
    assert decoded("Málaga,3\r\n".encode(encoding)) == "Málaga,3\n"
    assert decoded(codecs.BOM_UTF16_BE + "ü".encode("utf-16-be")) == "ü"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("one\nKöln".encode("latin-1"), "not UTF-8 text: byte 0xF6 in line 2"),
        (codecs.BOM_UTF16_LE + b"a", "not UTF-16 text"),
    ],
)
def test_bytes_of_another_encoding_are_named(content, says):
    with pytest.raises(ValueError, match=says):
        decoded(content)


@given(
    strategies.lists(
        strategies.lists(strategies.text("ab,;\t\"# 1é", max_size=6).map(str.strip), min_size=3, max_size=3),
        min_size=1, max_size=4,
    ),
    strategies.sampled_from(",;\t"),
)  # fmt: skip
def test_rows_that_the_csv_module_quotes_are_read_back(written, separator):
    text = "".join(separator.join('"' + field.replace('"', '""') + '"' for field in row) + "\r\n" for row in written)
    assert [row for _, row in rows(decoded(text.encode()), 3)] == [row for row in written if any(row)]


@pytest.fixture
def matrix(tmp_path):
    """Return a function that reads a matrix with that content."""

    def read(content):
        (tmp_path / "m.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        return topologies.matrix("m.csv", str(tmp_path / "world.toml"))

    return read


@pytest.mark.parametrize(
    "text",
    [
        "A,B,3\nC,D,1.5\n",
        "from,to,weight\nA,B,3\nC,D,1.5\n",
        "# demands of 2025\n\nfrom;to;weight\nA;B;3\nC;D;1.5\n",
        "from\tto\tGb/s\nA\tB\t3\nC\tD\t1.50\n",
        '"A" , "B" , 3\r\n"C","D","1.5"',
        "\ufefffrom,to,weight\nA,B,3\nC,D,15e-1",
    ],
)
def test_forms_of_a_matrix_give_the_same_weights(matrix, text):
    assert [row[1:] for row in matrix(text)["rows"]] == [("A", "B", 3000), ("C", "D", 1500)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A,B,3\nA,B,abc\n", "`m.csv`, line 2: column `weight`: expected a number such as `3` or `0.0004`, found"),
        ("from,to,Gb/s\nA,B,\n", "line 2: column `Gb/s`: expected a number"),
        ("A,B,n/a\n", "line 1: column `weight`: expected a number"),
        ("A,B,-1\n", "line 1: column `weight`: expected 0, or a number from"),
        ("A,B,nan\n", "line 1: column `weight`: expected a number"),
        ("A,B,inf\n", "line 1: column `weight`: expected a number"),
        ("A,B,1e999\n", "expected 0, or a number from"),
        ("A,B,1e-999\n", "expected 0, or a number from"),
        ("A,B,1_000\n", "expected a number"),
        ("A,B,10 Gbps\n", "expected a number"),
        ("A,B,\u0663\nA,B,\u0663\n", "line 2: column `\u0663`: expected a number"),
        ("A;B;3,5\n", "use a decimal point"),
        ("A,B\n", "line 1: expected `from,to,weight`, found 2 fields"),
        ("A,B,3,5\n", "line 1: expected `from,to,weight`, found 4 fields"),
        ("from,to,weight\nA,,3\n", "line 2: column `to`: expected a node, found nothing"),
        ("to,from,weight\nA,B,3\n", "line 1: expected `from,to,weight`, found `to,from,weight`"),
        ("A,B,3\nfrom,to,weight\n", "line 2: column `weight`: expected a number"),
    ],
)  # fmt: skip
def test_row_without_a_weight_names_line_column_and_value(matrix, text, says):
    with pytest.raises(InputError) as error:
        matrix(text)
    assert says in str(error.value)


numbers = strategies.decimals(0, 10**6, allow_nan=False, allow_infinity=False, places=12)


@given(strategies.lists(numbers, min_size=1, max_size=20))
def test_whole_weights_have_exactly_the_proportions_of_decimal_ones(written):
    found = weights.whole(written)
    if sum(written) * 10**12 < 2**62:
        total, whole = sum(map(Fraction, written)), sum(found)
        assert [Fraction(item) * whole for item in written] == [item * total for item in found]
    assert sum(found) < 2**62 + len(found)
    assert [item > 0 for item in found] == [item > 0 for item in written]


def test_weights_far_apart_keep_their_shares():
    written = [Decimal("1e-12"), Decimal("0.0004"), Decimal("123456")]
    assert weights.whole(written) == [1, 400_000_000, 123_456 * 10**12]
    # 1e30 : 3e30 has 101 bits, of which 62 are kept.
    large = weights.whole([Decimal("1e30"), Decimal("3e30"), Decimal("1e-30")])
    assert large[1] / large[0] == pytest.approx(3, rel=1e-15)
    assert large[2] == 1


def table(tmp_path, content):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    return topologies.table("t.csv", str(tmp_path / "world.toml"))


def test_table_takes_its_names_from_the_first_row(tmp_path):
    expected = [(4, [("at", "1 s"), ("link", "A-B"), ("delay", "3,1 ms")])]
    text = "# passes\n\nat (s); link; delay (ms); state\n1; A-B; 3,1;\n"
    assert table(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("row", "says"),
    [("1,A-B", "line 2: 2 fields, and 3 columns in the first line; `rate` is missing"), ("1,A-B,3,4", "4 fields")],
)  # fmt: skip
def test_row_of_another_length_is_refused(tmp_path, row, says):
    with pytest.raises(InputError, match=says):
        table(tmp_path, f"at (s),link,rate\n{row}\n")


def test_values_come_with_their_lines(tmp_path):
    (tmp_path / "v.txt").write_text("# ms\n12.5\n\n 7 # seven\n", encoding="utf-16")
    assert topologies.values("v.txt", str(tmp_path / "world.toml")) == [(2, "12.5"), (4, "7")]
