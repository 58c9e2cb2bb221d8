"""Schemas of the results of tools."""

# Schemas are made from these annotations when the server starts.

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Base of all schemas, without further keys."""

    model_config = ConfigDict(extra="forbid")


class Warned(Model):
    """Warning about a probable mistake in the question or the scenario."""

    name: str = Field(description="Name of the warning; the tool explain_message explains it.")
    message: str = Field(description="Fact, consequence and remedy.")
    place: str = Field("", description="File and line, or setting; empty without a place.")


class Place(Model):
    """Place of a problem."""

    problem: str
    file: str | None
    line: int | None
    column: int | None
    key: str | None
    expected: str | None
    nearest: str | None = Field(description="Nearest valid name.")
    help: str | None


WARNINGS = Field(description="Read these first: they say which numbers are not what they seem.")
DIGEST = Field(
    description="Beginning of the SHA-256 of the counts and metrics of the run (metrics_sha256); of several runs, of "
    "the SHA-256 of the lines of their digests in the order of combination and seed, or of their common digest."
)
WHOLE = Field(description="Digest of all runs of the study, complete.")
N = Field(description="Number of runs (or failures) behind the value.")
LEFT_OUT = Field(description="Number of further entries: continue with `skip`, raise `most`, or select fewer.")
UNIT = Field(description="SI unit, `%`, `MB`, a counted thing such as `packets`, or `1` without dimension.")
NOTE = Field("", description="Why a value or an interval is missing.")
LOW = Field(description="Lower end of the 95 % interval; null if there is none (see `note`).")
AT_LEAST = Field(None, description="Lower bound, if the value is not known.")


class Table(Model):
    """Part of a table, with rows as lists."""

    name: str
    columns: dict[str, str] = Field(description="Unit of each column; empty for texts and truth values.")
    rows: list[list[Any]]
    row_count: int = Field(description="Number of selected rows, also of those that are left out.")
    left_out: int = LEFT_OUT
    n: int = N
    digest: str = DIGEST
    note: str = Field(description="Why there are no intervals.")


class Number(Model):
    """Mean of a metric over the seeds, with its 95 % interval."""

    metric: str
    cell: dict[str, str] = Field(description="Swept values, and group, port, fibre or reason.")
    value: float | None = Field(description="Mean in `unit`; null if only a bound is known.")
    at_least: float | None = AT_LEAST
    unit: str = UNIT
    n: int = N
    low: float | None = LOW
    high: float | None
    digest: str = DIGEST
    note: str = NOTE


class RunDigest(Model):
    """Digest of one run."""

    cell: dict[str, str]
    seed: int
    digest: str


class RunResult(Model):
    """Metrics of a study."""

    warnings: list[Warned] = WARNINGS
    directory: str
    title: str
    seeds: int
    combinations: int
    numbers: list[Number]
    left_out: int = LEFT_OUT
    other_metrics: list[str] = Field(description="Further metrics of these runs.")
    digest: str = WHOLE
    runs: list[RunDigest] = Field(description="Digests of the single runs, of the first ones if there are many.")


class Difference(Model):
    """Difference of a metric from the reference, paired by seed."""

    metric: str
    unit: str = UNIT
    cell: dict[str, str]
    value: float | None
    value_at_least: float | None = AT_LEAST
    reference: float | None
    reference_at_least: float | None = AT_LEAST
    difference: float | None
    low: float | None = Field(
        description="Lower end of the 95 % interval of the difference; null if there is none (see `note`)."
    )
    high: float | None
    relative_pct: float | None = Field(None, description="Difference in % of the reference.")
    p: float | None = Field(None, description="Two-sided p value, not corrected for several comparisons.")
    n: int = N
    digest: str = DIGEST
    reference_digest: str
    note: str = NOTE


class CompareResult(Model):
    """Differences from a reference."""

    warnings: list[Warned] = WARNINGS
    directory: str
    reference: dict[str, str]
    differences: list[Difference]
    left_out: int = LEFT_OUT
    digest: str = DIGEST


class FlowPath(Model):
    """Flow and its path."""

    flow: str
    group: str
    tcp: str
    path: str = Field(description="Nodes; empty if routers choose the path.")


class ValidateResult(Model):
    """Summary of a valid scenario."""

    warnings: list[Warned] = WARNINGS
    scenario: str
    title: str
    nodes: int
    links: int
    flows: int
    groups: list[str]
    stop_s: float = Field(description="End of a run, in s.")
    observe: list[str]
    parameters: dict[str, str]
    sweep: dict[str, list[str]]
    paths: list[FlowPath]
    left_out: int = LEFT_OUT
    scenario_sha256: str


class NewResult(ValidateResult):
    """Summary of a scenario that was written."""

    written: list[str]


class ShowResult(Model):
    """Text of a scenario."""

    scenario: str
    text: str
    left_out: int = Field(description="Number of further lines; `skip` continues.")


class PlanResult(Model):
    """Estimated cost of a study."""

    warnings: list[Warned] = WARNINGS
    directory: str
    combinations: list[dict[str, str]]
    left_out: int = LEFT_OUT
    seeds: int
    runs: int
    missing_runs: int
    probed_runs: int = Field(description="Number of runs behind the estimate.")
    cpu_s_per_run: float | None
    cpu_s: float | None
    disk_bytes: int | None
    cpu_s_per_run_at_least: float | None


class OutageNumber(Model):
    """Mean over the failures, with its 95 % interval."""

    mechanism: str
    metric: str
    value: float | None
    at_least: float | None = AT_LEAST
    at_most: float | None = Field(None, description="Upper bound, if the value is not known.")
    unit: str = UNIT
    n: int = N
    low: float | None = LOW
    high: float | None
    digest: str = DIGEST
    note: str = NOTE


class OutageResult(Model):
    """Cost of the failures of a network, by recovery mechanism: the summary, or a part of one table."""

    warnings: list[Warned] = WARNINGS
    directory: str
    network: str
    demands: str
    routing: str
    sender: str
    failures: str
    failure_count: int
    digest: str = WHOLE
    files: dict[str, str] = Field(description="Files with the complete tables, below `directory`.")
    numbers: list[OutageNumber] = Field([], description="With `table` = summary or metrics.")
    left_out: int = Field(0, description="Number of further numbers: `skip` continues, `table` = metrics has all.")
    worst_failures: Table | None = Field(None, description="Data lost by mechanism; worst first, by the first one.")
    worst_demands: Table | None = None
    assumptions: dict[str, float | str] = Field({}, description="`table` = assumptions explains them.")
    defaults: list[str] = Field([], description="Assumptions that you did not set: say so when you report numbers.")
    table: Table | None = Field(None, description="The table that `table` names.")


class Extremes(Model):
    """Minimum and maximum of a column over all selected rows."""

    min: float | None
    max: float | None = Field(description="Null: unlimited, or not defined.")
    unit: str


class TraceResult(Model):
    """Rows of an observation of one run."""

    warnings: list[Warned] = WARNINGS
    directory: str
    observation: str
    cell: dict[str, str]
    seed: int
    n: int = N
    digest: str = DIGEST
    columns: dict[str, str] = Field(description="Unit of each column; empty for texts and truth values.")
    extremes: dict[str, Extremes]
    rows: list[list[Any]] = Field(description="Values in the order of the columns.")
    row_count: int
    left_out: int = LEFT_OUT


class PlotResult(Model):
    """Image of a study or a run; the image itself is the second part of the content."""

    warnings: list[Warned] = WARNINGS
    file: str
    seeds: int
    digest: str = DIGEST


class Name(Model):
    """Name with its description."""

    name: str
    summary: str = ""


class ListResult(Model):
    """Names of a family."""

    family: str | None
    names: list[Name]
    left_out: int = LEFT_OUT


class Passage(Model):
    """Part of the documentation."""

    source: str
    title: str
    text: str


class SearchResult(Model):
    """Passages that fit a question, best first."""

    passages: list[Passage]


class ExplainResult(Model):
    """Explanation of a message, and passages of the documentation about it."""

    warnings: list[Name] = Field(description="Warnings that the message names.")
    places: list[Place] = Field(description="Places of a message about a scenario.")
    passages: list[Passage]
