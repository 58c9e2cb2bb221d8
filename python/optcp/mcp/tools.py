"""Tools of the server: their names, arguments and descriptions."""

# The server makes schemas from these annotations when it starts.

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent
from pydantic import Field

from optcp import _core
from optcp.mcp import models
from optcp.mcp.jobs import Jobs, Stopped
from optcp.mcp.parts import written
from optcp.mcp.problems import of_message, of_scenario
from optcp.mcp.search import Index

Ctx = Context[Any, Any]
Scenario = Annotated[
    str, Field(max_length=400, description="Scenario file below the directory, or name of a shipped scenario.")
]
Settings = Annotated[
    dict[str, str | int | float | bool] | None,
    Field(
        max_length=100,
        description="Values that replace those of the file, by key path, such as {'parameters.rate': '20 Mbps'} or "
        "{'flows.0.tcp': 'linux-6'}. Values with a unit are texts.",
    ),
]
Directory = Annotated[
    str,
    Field(
        min_length=1,
        max_length=400,
        description="Stored study, by any name of an earlier answer: directory, title, digest, or scenario.",
    ),
]
OwnDirectory = Annotated[
    str | None, Field(max_length=400, description="Directory of the results; by default one below results.")
]
Cell = Annotated[
    dict[str, str] | None,
    Field(max_length=20, description="Swept parameter and value, such as {'switch_delay': '50 ms'}."),
]
Names = Annotated[list[str] | None, Field(max_length=100)]
Most = Annotated[
    int | None,
    Field(ge=1, le=1000, description="Maximum number of entries; by default as many as a short answer holds."),
]
Skip = Annotated[int, Field(ge=0, description="Number of entries to leave out at the beginning.")]
Characters = Annotated[
    int, Field(ge=100, le=3000, description="Maximum length of a passage: its lines that fit the query best.")
]
Seed = Annotated[int, Field(ge=0, lt=2**64, description="First seed.")]
Runs = Annotated[
    int, Field(ge=1, le=10_000, description="Number of seeds per parameter combination; 10 or more for intervals.")
]
Time = Annotated[str | None, Field(max_length=40, description="Such as 4.9 s or 4900ms.")]
Force = Annotated[bool, Field(description="Replace what is there.")]


class Tools:
    """Tools as methods; their docstrings are what clients read.

    Parameters
    ----------
    jobs
        Execution of the tools that need a separate process.
    index
        Index of the documentation.
    """

    def __init__(self, jobs: Jobs, index: Index) -> None:
        self._jobs, self._index = jobs, index

    async def new(
        self,
        ctx: Ctx,
        file: Annotated[str, Field(max_length=400, description="File to write, such as mine.toml.")],
        copy_of: Annotated[str, Field(max_length=200, description="Shipped scenario to copy.")] = "ring",
        text: Annotated[
            str | None, Field(max_length=500_000, description="Whole text of the scenario, in place of a copy.")
        ] = None,
        force: Force = False,
    ) -> Annotated[CallToolResult, models.NewResult]:
        """Write a scenario file (TOML), a copy of a shipped scenario or your own text; an invalid text is not kept."""
        return await self._call(ctx, "new", file=file, copy_of=copy_of, text=text, force=force)

    async def show(
        self, ctx: Ctx, scenario: Scenario, skip: Skip = 0, most: Most = None
    ) -> Annotated[CallToolResult, models.ShowResult]:
        """Return the text of a scenario, for example of a shipped one to start from; `skip` and `most` count lines."""
        return await self._call(ctx, "show", scenario=scenario, skip=skip, most=most)

    async def validate(
        self, ctx: Ctx, scenario: Scenario, settings: Settings = None, skip: Skip = 0, most: Most = None
    ) -> Annotated[CallToolResult, models.ValidateResult]:
        """Check a scenario without running it: summary, paths of flows, and warnings about likely mistakes."""
        return await self._call(ctx, "validate", scenario=scenario, settings=settings, skip=skip, most=most)

    async def plan(
        self,
        ctx: Ctx,
        scenario: Scenario,
        settings: Settings = None,
        runs: Runs = 1,
        seed: Seed = 1,
        directory: OwnDirectory = None,
        skip: Skip = 0,
        most: Most = None,
    ) -> Annotated[CallToolResult, models.PlanResult]:
        """Estimate what the tool run would do: parameter combinations, missing runs, CPU seconds and disk space."""
        return await self._call(
            ctx, "plan", scenario=scenario, settings=settings, runs=runs, seed=seed, directory=directory, skip=skip,
            most=most,
        )  # fmt: skip

    async def run(
        self,
        ctx: Ctx,
        scenario: Scenario,
        settings: Settings = None,
        runs: Runs = 1,
        seed: Seed = 1,
        directory: OwnDirectory = None,
        metrics: Annotated[Names, Field(description="Metrics to return; by default the usual ones.")] = None,
        where: Annotated[Cell, Field(description="Only these values, such as {'group': 'web'}.")] = None,
        skip: Skip = 0,
        most: Most = None,
        force: Force = False,
    ) -> Annotated[CallToolResult, models.RunResult]:
        """Simulate a scenario with all values of its [sweep] and all seeds; return means with 95 % intervals.

        Stored runs are reused: a larger `runs` simulates only the missing seeds. Every number has its unit, the number
        of runs n, the interval (none for n = 1) and the digest of its runs. Report the warnings with the numbers.
        """
        return await self._call(
            ctx, "run", scenario=scenario, settings=settings, runs=runs, seed=seed, directory=directory,
            metrics=metrics or [], where=where or {}, skip=skip, most=most, force=force,
        )  # fmt: skip

    async def compare(
        self,
        ctx: Ctx,
        directory: Directory,
        at: Annotated[
            dict[str, str],
            Field(min_length=1, max_length=20, description="Reference, such as {'switch_delay': '0 ms'}."),
        ],
        metrics: Names = None,
        skip: Skip = 0,
        most: Most = None,
    ) -> Annotated[CallToolResult, models.CompareResult]:
        """Compare the parameter combinations of a study with a reference, seed by seed: differences and intervals."""
        return await self._call(ctx, "compare", directory=directory, at=at, metrics=metrics or [], skip=skip, most=most)

    async def outage(
        self,
        ctx: Ctx,
        network: Annotated[
            str,
            Field(max_length=400, description="Network such as sndlib/abilene, or topology file below the directory."),
        ],
        mechanisms: Annotated[Names, Field(description="Recovery mechanisms, such as none, ti-lfa, 1+1.")] = None,
        failures: Literal["links", "nodes", "fibres", "ducts", "risks", "doubles"] | None = None,
        assumptions: Annotated[
            Settings, Field(description="Assumptions by name, such as {'peak': 0.5, 'detection_ms': 50}.")
        ] = None,
        sender: Literal["cubic", "bbr", "newreno"] = "cubic",
        routing: Literal["shortest", "ecmp"] = "shortest",
        demands: Annotated[str | None, Field(max_length=400, description="CSV file: from,to,weight.")] = None,
        paths: Annotated[
            str | None, Field(max_length=400, description="CSV file of working paths: from,to,path.")
        ] = None,
        time: Annotated[str | None, Field(max_length=5, description="Time of day of the demands, HH:MM.")] = None,
        directory: OwnDirectory = None,
        table: Annotated[
            Literal["summary", "metrics", "failures", "demands", "links", "loads", "fibres", "assumptions"],
            Field(description="Part of the result; the same call with another table reuses the runs."),
        ] = "summary",
        where: Annotated[Cell, Field(description="Only rows with these values, such as {'mechanism': 'none'}.")] = None,
        columns: Annotated[Names, Field(description="Only these columns of the table.")] = None,
        sort: Annotated[
            str | None, Field(max_length=100, description="Column by which rows are sorted, largest value first.")
        ] = None,
        skip: Skip = 0,
        most: Most = None,
        force: Force = False,
    ) -> Annotated[CallToolResult, models.OutageResult]:
        """Fail each link (or node, fibre, ...) of a network in turn and return what TCP transfers lose, by mechanism.

        The summary has data lost per failure, stalls, path outages, nines of availability, spare capacity, and the
        worst failures. Tables have every metric, failure, demand and link; `files` are their CSV files. Values rest on
        the assumptions: name those in `defaults`.
        """
        return await self._call(
            ctx, "outage", network=network, mechanisms=mechanisms or [], failures=failures, assumptions=assumptions,
            sender=sender, routing=routing, demands=demands, paths=paths, time=time, directory=directory,
            table=table, where=where or {}, columns=columns or [], sort=sort, skip=skip, most=most, force=force,
        )  # fmt: skip

    async def trace(
        self,
        ctx: Ctx,
        directory: Directory,
        observation: Annotated[
            str, Field(max_length=200, description="Name in [[observe]], or slowest (the slowest flows).")
        ],
        cell: Cell = None,
        seed: Annotated[int | None, Field(ge=0, lt=2**64)] = None,
        names: Annotated[Names, Field(description="Only these flows, groups or ports.")] = None,
        where: Annotated[Cell, Field(description="Only rows with these values, such as {'event': 'timeout'}.")] = None,
        start: Time = None,
        end: Time = None,
        columns: Names = None,
        skip: Skip = 0,
        most: Most = None,
    ) -> Annotated[CallToolResult, models.TraceResult]:
        """Return what one run recorded: windows and RTOs (tcp, reordering), queues, drops, goodput over time.

        Times are in s from the start of the run. `extremes` has the minimum and maximum of each column over all
        selected rows, also of those that are left out.
        """
        return await self._call(
            ctx, "trace", directory=directory, observation=observation, cell=cell or {}, seed=seed, names=names or [],
            where=where or {}, start=start, end=end, columns=columns or [], skip=skip, most=most,
        )  # fmt: skip

    async def plot(
        self,
        ctx: Ctx,
        directory: Directory,
        metric: Annotated[str | None, Field(max_length=200, description="Metric, over a swept parameter.")] = None,
        x: Annotated[str | None, Field(max_length=200)] = None,
        by: Annotated[str | None, Field(max_length=200, description="Parameter with one curve per value.")] = None,
        at: Cell = None,
        minus: Annotated[Cell, Field(description="Draw differences from this value.")] = None,
        kind: Literal["tcp", "rtt", "sequence", "queue", "sojourn", "load", "goodput", "completions", "drops", "marks"]
        | None = None,
        cell: Cell = None,
        seed: Annotated[int | None, Field(ge=0, lt=2**64)] = None,
        names: Annotated[Names, Field(description="Only these groups, flows or ports.")] = None,
        start: Time = None,
        end: Time = None,
    ) -> Annotated[CallToolResult, models.PlotResult]:
        """Draw a metric of a study over a swept parameter (`metric`), or one run over time (`kind`), as a PNG image."""
        return await self._call(
            ctx, "plot", directory=directory, metric=metric, x=x, by=by, at=at or {}, minus=minus or {}, kind=kind,
            cell=cell or {}, seed=seed, names=names or [], start=start, end=end,
        )  # fmt: skip

    async def list(
        self,
        ctx: Ctx,
        family: Annotated[
            str | None,
            Field(max_length=100, description="Such as scenarios, congestion, queues, sndlib; default: families."),
        ] = None,
        contains: Annotated[str, Field(max_length=100, description="Only names or summaries with this text.")] = "",
        skip: Skip = 0,
        most: Most = None,
    ) -> Annotated[CallToolResult, models.ListResult]:
        """List the names that scenarios and tools accept, by family; `profiles` has the options of TCP profiles."""
        return await self._call(ctx, "names", family=family, contains=contains, skip=skip, most=most)

    async def search_docs(
        self,
        query: Annotated[str, Field(min_length=1, max_length=500)],
        most: Annotated[int, Field(ge=1, le=20)] = 6,
        characters: Characters = 700,
    ) -> Annotated[CallToolResult, models.SearchResult]:
        """Search the documentation: scenario keys, names, metrics, commands and pages."""
        return _answer({"passages": [one._asdict() for one in self._index.excerpts(query, most, characters)]})

    async def explain_message(
        self,
        message: Annotated[str, Field(min_length=1, max_length=20_000, description="Warning, its name, or an error.")],
    ) -> Annotated[CallToolResult, models.ExplainResult]:
        """Explain a warning or an error message of OpTCP, and return the passages about it."""
        known = [one for one in _core.catalogue() if one["family"] == "warnings"]
        named = [{"name": one["name"], "summary": one["summary"]} for one in known if one["name"] in message]
        found = of_message(message)
        told = any(found[name] is not None for name in ("file", "key", "expected", "nearest"))
        places = of_scenario(message) or ([found] if told else [])
        query = " ".join([message[:500], *(one["name"] for one in named)])
        passages = [one._asdict() for one in self._index.excerpts(query, 5, 500)]
        return _answer({"warnings": named, "places": places, "passages": passages})

    async def _call(self, ctx: Ctx, tool: str, **arguments: Any) -> CallToolResult:  # noqa: ANN401 - JSON values
        """Execute a tool in a process and return its result, or its problem."""
        try:
            return _answer(await self._jobs.call(tool, arguments, ctx.report_progress))
        except Stopped as stopped:
            return failed(stopped.problem)


def _answer(found: dict[str, Any]) -> CallToolResult:
    """Return a result: names of warnings first, then the JSON text, which has their sentences, then the image."""
    png = found.pop("png", None)
    named = ", ".join(_of_question(found))
    content: list[ContentBlock] = [
        *([TextContent(text=f"WARNING {named}: read `warnings` before the numbers")] if named else []),
        TextContent(text=written(found)),
        *([] if png is None else [ImageContent(data=png, mime_type="image/png")]),
    ]
    return CallToolResult(content=content, structured_content=found)


def _of_question(found: dict[str, Any]) -> dict[str, None]:
    """Return the names of the warnings of a result, but for the list of default assumptions."""
    names = (one["name"] for one in found.get("warnings", []) if "message" in one)
    return dict.fromkeys(name for name in names if name != "assumed")


def failed(problem: dict[str, Any]) -> CallToolResult:
    """Return the result of a call that failed."""
    return CallToolResult(content=[TextContent(text=problem["message"])], structured_content=problem, is_error=True)
