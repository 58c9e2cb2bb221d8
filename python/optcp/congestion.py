"""Congestion controls written in Python, or compiled from Python or C."""

from __future__ import annotations

import copy
import ctypes
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from optcp import _core
from optcp.common import arguments
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from types import ModuleType

OWN_VALUES = 32
"""Number of values in ``own`` of a connection."""

CONNECTION = np.dtype(
    [
        ("now_ps", np.int64),
        ("srtt_ps", np.int64),
        ("mss", np.float64),
        ("cwnd", np.float64),
        ("ssthresh", np.float64),
        ("pacing_rate", np.float64),
        ("own", np.float64, (OWN_VALUES,)),
    ],
    align=True,
)
"""Layout of the state of a connection, for compiled hooks. Unknown times are -1."""

ACK = np.dtype(
    [
        ("acked", np.int64),
        ("delivered", np.int64),
        ("marked", np.int64),
        ("counted", np.float64),
        ("rtt_ps", np.int64),
        ("una", np.int64),
        ("next", np.int64),
        ("limited", np.int64),
    ],
    align=True,
)
"""Layout of the argument of a compiled ``on_ack``."""

DELIVERY = np.dtype(
    [
        ("delivered", np.int64),
        ("lost", np.int64),
        ("prior_in_flight", np.int64),
        ("in_flight", np.int64),
        ("rtt_ps", np.int64),
        ("rate", np.float64),
        ("prior_delivered", np.int64),
        ("total_delivered", np.int64),
        ("app_limited", np.int64),
        ("recovery", np.int64),
    ],
    align=True,
)
"""Layout of the argument of a compiled ``on_delivery``. Without a sample, ``rate`` is NaN, ``prior_delivered`` -1."""


class CongestionControl(_core.CongestionControl):
    """Base class of congestion controls in Python. A subclass that overrides nothing is Reno.

    A scenario names a subclass: ``congestion = "python:MODULE.CLASS"``. The module is searched next to the scenario, in
    the current directory, and among installed modules. Each connection has a separate object, and a fork of the run
    copies it. With ``python-paced:MODULE.CLASS``, connections are paced and :meth:`on_delivery` is called.

    Windows are in bytes, rates in bytes per second, counts in segments and times in integer picoseconds. They are known
    from the first hook on, not yet in ``__init__``.

    Examples
    --------
    >>> from optcp import CongestionControl
    >>> class Gentle(CongestionControl):
    ...     def on_loss(self, basis):
    ...         return 0.8 * basis
    """

    slow_start = True
    """Whether the slow start of the connection applies. Otherwise ``ack.counted`` equals ``ack.acked``."""

    def on_ack(self, ack: _core.Ack) -> None:
        """Grow ``cwnd`` for an ACK of new data outside recovery.

        Slow start has already grown it: ``ack.counted`` is 0 for ACKs of which slow start has used all segments.
        Without an override, slow start and Reno apply, or nothing if :meth:`on_delivery` is overridden.
        """

    def on_delivery(self, delivery: _core.Delivery) -> None:
        """Set ``cwnd`` or ``pacing_rate`` after any ACK. Only for ``python-paced``."""

    def on_loss(self, basis: float) -> float | None:
        """Return the new ssthresh when a recovery starts or the RTO fires.

        ``cwnd`` follows ssthresh as ``rate_reduction`` defines. ``None`` keeps ssthresh, and in a recovery also cwnd.
        The method cannot set ``cwnd`` or ``ssthresh`` itself.

        Parameters
        ----------
        basis
            Window or flight size, as ``reduction_basis`` and ``timeout_basis`` define.
        """
        return basis / 2

    def on_ecn(self, basis: float) -> float | None:
        """Return the new ssthresh after the first reported mark in a window of data. By default as after a loss."""
        return self.on_loss(basis)

    def on_rto(self) -> None:
        """React to an RTO, after :meth:`on_loss`. ``cwnd`` then falls to one segment."""

    def on_recovered(self) -> None:
        """React to the end of a recovery."""

    def on_restart(self, idle_ps: int) -> None:
        """React to data that are sent with nothing outstanding. The window cannot be changed."""

    def on_save(self) -> None:
        """Save the state before a reduction that may be undone. The window cannot be changed."""

    def on_undo(self) -> None:
        """React to the undo of the last reduction; ``cwnd`` and ``ssthresh`` are restored."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy for a fork of the run."""
        fork = type(self).__new__(type(self))
        fork.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return fork


class Compiled:
    """Compiled function as a hook: :func:`compiled` creates one."""

    def __init__(self, address: int, owner: object) -> None:
        self.address = address
        self._owner = owner


def compiled(function: object) -> Any:  # noqa: ANN401 - a method in the eyes of a type checker
    """Return a compiled function as a hook.

    The simulator calls it by its address and cannot check its signature: an error there may end the process.
    :data:`CONNECTION`, :data:`ACK` and :data:`DELIVERY` describe the structures. The signatures in C are:

    * ``void on_ack(connection *, const ack *)``
    * ``void on_delivery(connection *, const delivery *)``
    * ``double on_loss(connection *, double basis)``, which returns NaN for ``None``; ``on_ecn`` likewise
    * ``void on_restart(connection *, int64_t idle_ps)``
    * ``void on_rto(connection *)``; ``on_recovered``, ``on_save`` and ``on_undo`` likewise

    Functions keep their state in ``own`` of the connection, 32 values that are zero at the start.

    Parameters
    ----------
    function
        Function of ``numba.cfunc``, function of ``ctypes``, or an address such as
        ``int(ffi.cast("intptr_t", pointer))`` of ``cffi``.

    Raises
    ------
    InputError
        If it has no address.
    """
    address = getattr(function, "address", function)
    if isinstance(address, ctypes.CFUNCTYPE(None).__mro__[1]):
        address = ctypes.cast(address, ctypes.c_void_p).value  # type: ignore[arg-type]  # a function is a pointer
    if not isinstance(address, int) or isinstance(address, bool) or address <= 0:
        raise arguments.refused(function, "function", "a function of numba.cfunc or ctypes, or an address")
    return Compiled(address, function)


_refused: list[str] = []
"""Why scenarios of this process may not run Python code; empty if they may."""


def refuse(reason: str) -> None:
    """Refuse congestion controls in Python in this process from now on, because its scenarios come from elsewhere."""
    _refused.append(reason)


def find(name: str, scenario: Path) -> tuple[type[CongestionControl], str]:
    """Return a class and the SHA-256 digest of its source.

    Parameters
    ----------
    name
        Module and class, such as ``module.Class``.
    scenario
        File of the scenario.

    Raises
    ------
    InputError
        If there is no such class, its module cannot be imported, or this process refuses Python code.
    """
    if _refused:
        raise InputError(f"`{name}` is Python code, which is not run here: {_refused[0]}")
    module_name, _, class_name = name.rpartition(".")
    module = _module(module_name, scenario)
    found = getattr(module, class_name, None)
    if not isinstance(found, type) or not issubclass(found, CongestionControl) or found is CongestionControl:
        classes = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, CongestionControl) and value is not CongestionControl
        ]
        wrong = "is no subclass of optcp.CongestionControl" if found is not None else "does not exist"
        raise InputError(f"class `{class_name}` of module `{module_name}` {wrong}; {nearest(class_name, classes)}")
    hooks = [key for key in vars(CongestionControl) if key.startswith("on_")]
    for key in vars(found):
        if key.startswith("on_") and key not in hooks:
            raise InputError(f"`{name}` has the unknown hook `{key}`; {nearest(key, hooks)}")
    try:
        found()
    except Exception as error:
        raise InputError(f"`{name}()` raises {_described(error)}") from error
    return found, _digest(found, module)


def _module(name: str, scenario: Path) -> ModuleType:
    """Import a module next to the scenario, in the current directory or from the installed ones."""
    relative = Path(*name.split(".")).with_suffix(".py")
    places = [Path(scenario).parent / relative, Path.cwd() / relative]
    file = next((place.resolve() for place in places if place.is_file()), None)
    try:
        if file is None:
            return importlib.import_module(name)
        return _from_file(name, file)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise InputError(f"module `{name}` cannot be imported: {_described(error)}") from error
        message = (
            f"there is no module `{name}` next to the scenario, in the current directory or among installed modules"
        )
        raise InputError(message) from error
    except Exception as error:
        raise InputError(f"module `{name}` cannot be imported: {_described(error)}") from error


def _from_file(name: str, file: Path) -> ModuleType:
    """Import a file, again if it has changed."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__optcp_sha256__", None) == digest:
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    vars(module)["__optcp_sha256__"] = digest
    previous = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if previous is None:
            del sys.modules[name]
        else:
            sys.modules[name] = previous
        raise
    return module


def _digest(found: type, module: ModuleType) -> str:
    """Return the digest of the file of a class, or of its source in a notebook."""
    known: str | None = getattr(module, "__optcp_sha256__", None)
    if known is not None:
        return known
    file = getattr(module, "__file__", None)
    if file is not None and module.__name__ != "__main__":
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    try:
        source = inspect.getsource(found)
    except (OSError, TypeError):
        functions = [value for value in vars(found).values() if inspect.isfunction(value)]
        source = repr([(one.__code__.co_code, one.__code__.co_consts) for one in functions])
    return hashlib.sha256(source.encode()).hexdigest()


def _described(error: Exception) -> str:
    """Return type and message of an exception, and its line in the user's code."""
    message = f"{type(error).__name__}: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    # A SyntaxError states its line.
    if isinstance(error, SyntaxError) or frame.filename == __file__:
        return message
    return f"{message} ({Path(frame.filename).name}, line {frame.lineno})"
