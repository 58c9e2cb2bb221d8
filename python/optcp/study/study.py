"""A study: a grid of worlds and the seeds of each."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.scenario import KERNELS, Scenario, as_written, check_seed, load
from optcp.study.grid import Grid

if TYPE_CHECKING:
    from optcp.study.done import Done
    from optcp.study.pool import Progress


@dataclass(frozen=True, init=False, repr=False)
class Study:
    """A scenario, axes and seeds: which runs are wanted.

    Parameters
    ----------
    world
        A scenario, its file, or the name of a shipped one; or a whole grid.
    over
        The axes: a key path and its values, as :meth:`optcp.Scenario.set` takes them; or a name, and for each of its
        values the settings that it stands for. Left out, they are those of the scenario's ``[sweep]``.
    seeds
        So many, from 1 on; or which.
    title
        For progress lines; the scenario's own if left out.
    digest
        Whether ``records_sha256`` is wanted, which takes longer.
    fork, kernel
        How runs are made: whether cells share their warm-up, "fast" or "reference". Results are equal.

    Raises
    ------
    InputError
        If a seed or a value is none.
    ScenarioError
        If there is no such world; every cell is checked.

    Examples
    --------
    >>> study = Study("single-failure", {"parameters.switch_delay": ["0 ms", "50 ms"]}, seeds=3)
    >>> study
    One link fails, is protected, repaired and reverted to: 2 cells of switch_delay (0 ms, 50 ms), seeds 1 to 3
    >>> done = study.run()
    >>> goodput = done["goodput"].between("5 s", "7 s").total("group")
    >>> (goodput - goodput.at(switch_delay="0 ms")).at(switch_delay="50 ms").mean().n
    array(3)
    """

    grid: Grid
    seeds: tuple[int, ...]

    def __init__(
        self,
        world: Grid | Scenario | str | Path,
        over: Mapping[str, Sequence[Any] | Mapping[str, Mapping[str, Any]]] | None = None,
        *,
        seeds: int | Sequence[int] = 1,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        kernel: str = KERNELS[0],
    ) -> None:
        if not isinstance(world, Grid):
            scenario = world if isinstance(world, Scenario) else load(world)
            axes = list((scenario.axes if over is None else over).items())
            world = Grid.grid(
                scenario.core,
                (),
                [(name, _values(values)) for name, values in axes],
                title=title,
                digest=digest,
                fork=fork,
                kernel=kernel,
            )
        chosen = range(1, 1 + seeds) if isinstance(seeds, int) else seeds
        for seed in chosen:
            check_seed(seed)
        object.__setattr__(self, "grid", world)
        object.__setattr__(self, "seeds", tuple(dict.fromkeys(chosen)))

    def run(
        self,
        out: str | Path | None = None,
        *,
        jobs: int | None = None,
        progress: Progress | None = None,
        force: bool = False,
    ) -> Done:
        """Make the runs that are not stored yet. Ctrl-C keeps those that are finished; the same call goes on.

        Parameters
        ----------
        out
            The study's directory; left out, one that is removed with the result.
        jobs
            Threads; as many as there are processors if left out.
        progress
            Notified of progress; left out, a bar on a terminal.
        force
            Whether another study in the directory is replaced.

        Raises
        ------
        InputError
            If another study is in the directory; the message says what differs.
        Interrupted, RunFailed
            See :func:`optcp.study.runner.execute`.
        """
        from optcp.study.done import Done
        from optcp.study.progress import on_terminal
        from optcp.study.runner import processors, run_missing
        from optcp.study.store import Store

        kept = tempfile.TemporaryDirectory(prefix="optcp-") if out is None else None
        store = Store(Path(kept.name if kept else out))  # type: ignore[arg-type]
        store.open(self.grid, force=force)
        run_missing([(self, store)], jobs or processors(), progress or on_terminal())
        return Done(self.grid, self.seeds, store, kept)

    def __repr__(self) -> str:
        return described(self.grid, self.seeds)


def described(grid: Grid, seeds: Sequence[int]) -> str:
    """What a grid is of, its cells and seeds, in a line."""
    axes = " x ".join(f"{axis.name} ({', '.join(axis.shown)})" for axis in grid.axes)
    cells = f"{len(grid.branches)} cells of {axes}" if axes else "one cell"
    ends = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{grid.title}: {cells}, {ends}"


def _values(values: Sequence[Any] | Mapping[str, Mapping[str, Any]]) -> Sequence[str] | Mapping[str, Mapping[str, str]]:
    if isinstance(values, Mapping):
        return {str(name): {key: as_written(one) for key, one in of.items()} for name, of in values.items()}
    return [as_written(value) for value in values]
