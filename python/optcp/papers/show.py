"""Terminal tables of experiment results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from optcp.common.plurals import count_noun
from optcp.common.terminal import STYLES, interval, number, show_table
from optcp.papers.judge import word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from optcp.papers.model import Claim, Holds, Result, Row


MOST_STUDIES = 3
"""Maximum number of studies that the size of an exhibit names."""
COUNTED = tuple(
    [("values", verdict) for verdict in ("match", "near", "differs", "undecided")]
    + [("claims", judgement) for judgement in ("true", "false", "undecided")]
)
"""Columns of the summary: verdicts on published values, and judgements of claims."""


def show_results(console: Console, results: Sequence[Result]) -> None:
    """Print one exhibit with all its values, or several with a line each and the counts of all verdicts."""
    if len(results) == 1:
        show_result(console, results[0])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("experiment", no_wrap=True)
    for heading in COUNTED:
        table.add_column("\n".join(heading), no_wrap=True, justify="right")
    totals: Counter[tuple[str, str]] = Counter()
    for result in results:
        counts: Counter[tuple[str, str]] = Counter(("values", row.verdict) for row in result.rows)
        counts.update(("claims", word(claim.holds)) for claim in result.claims)
        totals += counts
        table.add_row(result.exhibit, *_counts(counts))
    table.add_section()
    table.add_row(f"all {len(results)}", *_counts(totals), style="bold")
    console.print()
    console.print(table)
    if any(result.size["name"] == "quick" for result in results):
        quick = "Quick size: fewer seeds and shorter runs than the default size; verdicts can differ."
        console.print(Text(quick, style="dim"))
    console.print(Text(f"`optcp reproduce {results[0].exhibit}` prints the values and claims of one.", style="dim"))


def _counts(counts: Mapping[tuple[str, str], int]) -> Iterator[Text]:
    """Yield the cells of a line: a dash in place of 0."""
    for heading in COUNTED:
        count = counts.get(heading, 0)
        yield Text(str(count), style=STYLES[heading[1]]) if count else Text("-", style="dim")


def show_result(console: Console, result: Result) -> None:
    """Print the rows, claims and assumptions of a result."""
    console.print()
    console.print(Text(f"{result.exhibit}  {result.title}", style="bold"))
    console.print(Text(f"{result.source['where']}; {size_text(result)}", style="dim"))
    if result.rows:
        # Where a paper publishes values, those without one only serve claims: the JSON file has them.
        rows = [row for row in result.rows if row.paper is not None] or result.rows
        show_table(console, _rows(rows))
        if left := len(result.rows) - len(rows):
            console.print(Text(f"{count_noun(left, 'row')} without a published value: see the JSON file", style="dim"))
        for why in dict.fromkeys(row.why for row in result.rows if row.why):
            console.print(Text.assemble(("differs", STYLES["differs"]), f"  {why}"))
    if result.claims:
        console.print(_claims(result))
    console.print(Text(assumed_text(result), style="dim"))
    for note in result.notes:
        console.print(Text(note, style="dim"))


def size_text(result: Result) -> str:
    """Return a text with the number of runs of a result and of the paper."""
    name, paper_runs = result.size["name"], result.size["paper_runs"]
    theirs = "" if paper_runs is None else f"; the paper had {count_noun(paper_runs, 'run')}"
    if result.provenance["seeds"] is None:
        return f"size {name}: no runs{theirs}"
    counts: dict[int, list[str]] = {}
    for study, count in result.size["seeds"].items():
        if count:
            counts.setdefault(count, []).append(study)
    parts = [
        f"{count_noun(count, 'seed')} "
        + (f"of each of {len(of)} studies" if len(of) > MOST_STUDIES else f"({', '.join(of)})")
        for count, of in counts.items()
    ]
    if kept := len(result.provenance.get("kept", [])):
        parts.append(f"{count_noun(kept, 'stored run')}")
    first, last = result.provenance["seeds"]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    return f"size {name}: {', '.join(parts)}, {seeds}{theirs}"


def assumed_text(result: Result) -> str:
    """Return a text with the assumed values of unstated parameters and the changes of ``--set``."""
    text = "assumed: " + ", ".join(f"{name} = {value}" for name, value in result.assumed.items())
    if result.changed:
        changed = ", ".join(f"{name} (default {value})" for name, value in result.changed.items())
        text += f"; changed by --set: {changed}"
    return text


def measured(row: Row) -> str:
    """Return the simulated value of a row, or its bound."""
    if row.at_least is not None:
        return f"> {number(row.at_least)}"
    return number(row.measured) if row.at_most is None else f"< {number(row.at_most)}"


def _rows(rows: Sequence[Row]) -> Table:
    keys = list(dict.fromkeys(name for row in rows for name in row.key))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in keys:
        table.add_column(name, justify="right")
    table.add_column("metric")
    for name in ("published", "simulated", "95 % interval", "n"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        table.add_row(
            *(str(row.key.get(name, "")) for name in keys),
            row.metric,
            number(row.paper),
            measured(row),
            interval(*row.ci95),
            str(row.n),
            Text(row.verdict, style=STYLES[row.verdict]),
        )
    return table


def _claims(result: Result) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("holds", no_wrap=True)
    table.add_column("claim (evidence: see the JSON file or the report)", overflow="fold")
    for claim in result.claims:
        readings = ", ".join(f"{name}: {word(holds)}" for name, holds in claim.readings.items())
        text = Text(claim.text)
        text.append(f"  {claim.where}; {readings}", style="dim")
        if ended := ended_text(result, claim):
            text.append(f"; {ended}", style="dim")
        table.add_row(_chip(claim.holds), text)
    return table


def ended_text(result: Result, claim: Claim) -> str:
    """Return the number of seeds that decided a claim, or the reason why it is undecided, or an empty text."""
    if "until_decided" not in result.size:
        return "interpretations disagree" if claim.disagrees else ""
    ended = result.size["until_decided"]["claims"][claim.id]
    stage = ended["stage"]
    # The number of seeds is meaningful only for these stages.
    return f"{stage} at {ended['seeds']} seeds" if stage in ("decided", "bound reached") else stage


def _chip(holds: Holds) -> Text:
    return Text(word(holds), style=STYLES[word(holds)])
