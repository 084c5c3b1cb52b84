"""slackline from Python: every verb returns a data frame, or its JSON document.

    import slackline
    slackline.waits("app.slt")                                    # wait states by call path and rank
    slackline.simulate("halo2d", ranks=64, machine="chic")        # when each rank finishes
    slackline.document("waits", "app.slt")["totals"]              # the whole result as a dict

A frame is a pandas.DataFrame, a polars.DataFrame or a pyarrow.Table, whichever of these is installed, in this order; without any of
them it is a Rows, a list of dicts. ``backend="polars"`` (or "pandas", "pyarrow", "rows") chooses one. This package needs nothing but
the program slackline, which is inside its wheels; the environment variable SLACKLINE names another one.

Flags of a verb are keyword arguments, with ``_`` for ``-``: ``only_path="solve"`` is ``--only-path solve``. True is a flag without a
value, False and None leave it out, a list repeats it. Times in frames are those of the verb's CSV form, whose columns name the unit.
"""

from __future__ import annotations

import csv
import importlib
import io
import json as _json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

__all__ = [
    "Rows", "SlacklineError", "advise", "check", "compare", "document", "frame", "history", "profile", "program", "record", "run",
    "scaling", "simulate", "tables", "tolerance", "waits",
]

PathLike = "str | os.PathLike[str]"

FINE, BAD_INPUT, USAGE, CHECK_FAILED, INCONCLUSIVE, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes of slackline. Code 3 and 4 are results, not errors."""


class SlacklineError(RuntimeError):
    """slackline could not do what was asked: ``code`` is its exit code, ``message`` what it printed."""

    def __init__(self, code: int, message: str, command: Sequence[str]):
        super().__init__(message or f"slackline ended with code {code}")
        self.code, self.message, self.command = code, message, list(command)


class Rows(list):
    """Rows of a table as dicts, where no library for data frames is installed. ``columns`` are the names."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]):
        super().__init__(dict(r) for r in rows)
        self.columns = list(columns)

    def column(self, name: str) -> list:
        """All values of one column."""
        return [row[name] for row in self]


def program() -> str:
    """The path of the program: $SLACKLINE, the one in this package, or the one on the PATH."""
    if os.environ.get("SLACKLINE"):
        return os.environ["SLACKLINE"]
    inside = Path(__file__).with_name("bin") / "slackline"
    if inside.exists():
        return str(inside)
    found = shutil.which("slackline")
    if found is None:
        raise SlacklineError(BAD_INPUT, "the program slackline is not on the PATH; install it, or set SLACKLINE to its path", [])
    return found


def _flags(flags: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in flags.items():
        flag = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words += [flag, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return words


def run(*words: Any, **flags: Any) -> str:
    """Run slackline with these words and flags and return what it prints. Verdicts (exit code 3 and 4) are not errors."""
    command = [program(), *(os.fspath(w) if isinstance(w, os.PathLike) else str(w) for w in words), *_flags(flags)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (FINE, CHECK_FAILED, INCONCLUSIVE):
        raise SlacklineError(done.returncode, done.stderr.strip(), command)
    return done.stdout


def document(verb: str, *inputs: Any, **flags: Any) -> dict[str, Any]:
    """The JSON document of a verb, e.g. ``document("waits", "app.slt")``; docs/formats has the schemas."""
    return _json.loads(run(*verb.split(), *inputs, format="json", quiet=True, **flags))


def _typed(texts: list[str]) -> list[Any]:
    """A column with the narrowest type that all its values have; what is empty is None."""
    for kind in (int, float):
        try:
            return [None if t == "" else kind(t) for t in texts]
        except ValueError:
            pass
    if all(t in ("true", "false", "") for t in texts):
        return [None if t == "" else t == "true" for t in texts]
    return texts


def _parse(text: str) -> tuple[list[str], list[list[Any]]]:
    lines = list(csv.reader(io.StringIO(text)))
    if not lines:
        return [], []
    names = lines[0]
    return names, [_typed([line[i] for line in lines[1:]]) for i in range(len(names))]


_BACKENDS = ("pandas", "polars", "pyarrow")


def _make(names: list[str], columns: list[list[Any]], backend: str | None) -> Any:
    for name in (backend,) if backend else _BACKENDS:
        if name == "rows":
            break
        if name not in _BACKENDS:
            raise ValueError(f"backend {name!r} is not one of pandas, polars, pyarrow, rows")
        try:
            module = importlib.import_module(name)
        except ImportError:
            if backend:
                raise
            continue
        data = dict(zip(names, columns))
        return module.table(data) if name == "pyarrow" else module.DataFrame(data)
    return Rows((dict(zip(names, row)) for row in zip(*columns)), names)


def frame(verb: str, *inputs: Any, backend: str | None = None, **flags: Any) -> Any:
    """The rows of a verb as a data frame, e.g. ``frame("measure noise", time="10s")``."""
    names, columns = _parse(run(*verb.split(), *inputs, format="csv", quiet=True, **flags))
    return _make(names, columns, backend)


def waits(trace: PathLike, *, backend: str | None = None, **flags: Any) -> Any:
    """Who waits in a run, and where: a row for each wait state, call path and rank. Flags: those of ``slackline waits``."""
    return frame("waits", trace, backend=backend, **flags)


def profile(trace: PathLike, *, backend: str | None = None, **flags: Any) -> Any:
    """Where the time of a run goes: a row for each call path. Flags: those of ``slackline profile``."""
    return frame("profile", trace, backend=backend, **flags)


def simulate(what: PathLike, *, backend: str | None = None, **flags: Any) -> Any:
    """Simulate a pattern, a schedule or a recorded run on a machine. Flags: those of ``slackline simulate``."""
    return frame("simulate", what, backend=backend, **flags)


def tolerance(what: PathLike, *, backend: str | None = None, **flags: Any) -> Any:
    """How much latency a program tolerates. Flags: those of ``slackline tolerance``."""
    return frame("tolerance", what, backend=backend, **flags)


def scaling(*data: PathLike, backend: str | None = None, **flags: Any) -> Any:
    """How measurements grow with their parameters: a row for each model. Flags: those of ``slackline scaling``."""
    return frame("scaling", *data, backend=backend, **flags)


def check(expectations: PathLike, *data: PathLike, backend: str | None = None, **flags: Any) -> Any:
    """Whether measurements scale as expected: a row for each verdict. Flags: those of ``slackline check``."""
    return frame("check", expectations, *data, backend=backend, **flags)


def compare(before: PathLike, after: PathLike, *, backend: str | None = None, **flags: Any) -> Any:
    """What changed between two runs or series of runs. Flags: those of ``slackline compare``."""
    return frame("compare", before, after, backend=backend, **flags)


def advise(*runs: PathLike, backend: str | None = None, **flags: Any) -> Any:
    """What to change first, and what it gains. Flags: those of ``slackline advise``."""
    return frame("advise", *runs, backend=backend, **flags)


def history(directory: PathLike = "slackline-history", *, backend: str | None = None, **flags: Any) -> Any:
    """What changed at which commits: a row for each change. Flags: those of ``slackline history check``."""
    return frame("history check", backend=backend, dir=directory, **flags)


def record(*command: Any, out: PathLike = "app.slt", **flags: Any) -> Path:
    """Run an MPI program, e.g. ``record("mpirun", "-n", 8, "./app")``, and return the path of its trace."""
    run("record", *_flags({"out": out, **flags}), "--", *command)
    return Path(out)


def tables(trace: PathLike, directory: PathLike, *, to: str = "parquet", **flags: Any) -> dict[str, Path]:
    """Write a run as tables with exact times, as Parquet or Arrow files, and return their paths by name; see docs/formats/columns.md."""
    run("convert", trace, to=to, out=directory, quiet=True, **flags)
    return {p.stem: p for p in sorted(Path(directory).glob(f"*.{to}"))}
