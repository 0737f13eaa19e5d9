"""The command `manyheads`: one verb, one file, one help page. Nothing heavy is imported before a verb needs it.

| file | what it is |
|---|---|
| `app` | the table of verbs |
| `train`, `recipe`, `validate`, `describe` | train a model; write, check and describe its recipe |
| `translate`, `translate_document`, `generate`, `score` | translate texts or a document; continue a text; score |
| `evaluate` | evaluate and compare runs |
| `encode`, `classify`, `answer` | vectors, labels and answers for texts |
| `inspect`, `inspect_views` | pictures, pages and numbers of the inside of a run |
| `serve`, `server_afterwards` | the HTTP server, alone and after a training |
| `export`, `import_`, `comparing` | other toolkits, and the comparison with Hugging Face |
| `data`, `cache`, `lexicon`, `shortlist` | corpora, the token cache, lexicons and shortlists |
| `models` | the models that come with the package |
| `study` | questions about models, answered by measurements |
| `plan` | what a training would reach, before it is begun |
| `options`, `texts`, `outputs` | common options, input texts and output files |
| `failures` | a sentence for what no reader refuses, with the traceback in a file |
| `help_pages`, `examples`, `completion` | help pages, their examples, and completion in a shell |
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ALLOCATIONS = 50_000
"""New objects after which Python looks for garbage in cycles. Its default, 700, is meant for programs that make fewer
objects in all: here, what modules make while they are imported, all of which stays, was looked through several times,
5 to 10 % of the processor time from the command to a translation."""


def main() -> None:
    """Run the command; a user's mistake is printed as one sentence, with exit status 2."""
    # Threads that spin while they wait for each other are several times slower if other programs run on the machine. So
    # they spin for microseconds, not milliseconds. OpenMP reads this once, when torch is imported.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    gc.set_threshold(ALLOCATIONS)
    from manyheads.cli.app import app

    _show_notices()

    debug = "--debug" in sys.argv  # before or after the verb
    try:
        _check_streams()
        with _written_out():
            app(args=[argument for argument in sys.argv[1:] if argument != "--debug"], prog_name="manyheads")
    except BrokenPipeError:  # the reader of the output has ended, as with `| head`
        _without_output()
        raise SystemExit(141) from None
    except Exception as error:
        if debug:
            raise
        from manyheads.cli.failures import explained

        shown, status = explained(error)
        _without_output()
        if os.environ.get("RANK", "0") == "0":  # of the processes that torchrun starts, only the first prints
            print(f"error: {shown}", file=sys.stderr)
        raise SystemExit(status) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None


def _check_streams() -> None:
    """Raise an error if standard output is closed, since the results would go nowhere."""
    from manyheads.errors import ManyheadsError

    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise ManyheadsError("standard output is closed.", cure="Send it to /dev/null to throw it away.")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="surrogateescape")  # the name of a file may have bytes that are not UTF-8


def _without_output() -> None:
    """Write what was printed so far, or leave it: at the end of the process, what cannot be written is a traceback."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError, ValueError):
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


@contextmanager
def _written_out() -> Iterator[None]:
    """Write everything that the block prints; standard output that cannot be written, as on a full disk, is an error.

    An error of another file has the name of that file.
    """
    from manyheads.errors import ManyheadsError

    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # at the end of the process it would be too late for a sentence
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (what is left would fail once more)
        raise ManyheadsError(
            f"this cannot be written: {error.strerror or error}.",
            where="standard output",
            cure="Make room, or send the output elsewhere.",
        ) from error


def _show_notices() -> None:
    """Print the package's own notices as one line, without the line of code that a warning shows."""
    import warnings

    from manyheads.errors import Notice

    show = warnings.showwarning

    def line(message: Warning | str, category: type[Warning], *place: object, **more: object) -> None:
        """Show a warning."""
        if issubclass(category, Notice):
            print(f"note: {message}", file=sys.stderr)
        else:
            show(message, category, *place, **more)  # type: ignore[arg-type]

    warnings.showwarning = line
