"""Give every verb inputs that are hostile or careless, and count what becomes of them.

    python benchmarks/hostile.py [--only WORDS | --every N] [--out results/hostile.json]

Each case runs in a process of its own with limits on its time and memory. It is bad if it ends in a traceback, a signal
or a mistake of the program, takes more than ten seconds or 1 GB, or succeeds with an input that cannot be used.
The processes are forked from one that has imported the package; cases about standard streams run a command line. A few
controls, each of which must be found bad, show that this is found.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from hostile.every import all_cases, controls  # noqa: E402
from hostile.running import MEMORY, REFUSED, SECONDS, Case, Outcome, run  # noqa: E402
from hostile.world import World  # noqa: E402


def main() -> None:
    """Run the cases, print those that are bad, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="run the cases whose name or verb has these words")
    parser.add_argument("--every", type=int, default=1, help="run every n-th of these cases")
    parser.add_argument("--jobs", type=int, default=2, help="cases that run side by side")
    parser.add_argument("--out", type=Path, help="by default results/hostile.json, for a run of all cases")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MANYHEADS_CACHE"] = str(Path(folder) / "cache")
        world = World.made_apart(Path(folder))
        cases = [case for case in all_cases(world) if options.only in f"{case.verb}: {case.name}"][:: options.every]
        outcomes = side_by_side(cases, options.jobs, Path(folder))
        report = summary(outcomes)
        report["controls"] = {wanted: run(case).problems for wanted, case in controls(world).items()}
    print(table(report))
    out = options.out or (None if options.only or options.every > 1 else HERE / "results" / "hostile.json")
    if out:
        out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        out.with_suffix(".md").write_text(table(report), encoding="utf-8")
    raise SystemExit(1 if report["bad"] else 0)


def side_by_side(cases: list[Case], jobs: int, folder: Path) -> list[Outcome]:
    """Run the cases in several processes, each of which takes every n-th; print those that are bad."""
    children = []
    for job in range(jobs):
        child = os.fork()
        if child:
            children.append(child)
            continue
        results = []
        for case in cases[job::jobs]:
            one = run(case)
            results.append([one.status, one.said, one.seconds, one.memory, one.waited])
            if one.problems:
                said = one.said.strip()[-1200:]
                print(f"{case.verb} | {case.name} | {one.problems} | {one.seconds:.1f} s\n    {said}", flush=True)
            if len(results) % 50 == 0:
                print(f"{len(results)} of {len(cases[job::jobs])}", file=sys.stderr, flush=True)
        (folder / f"job-{job}.json").write_text(json.dumps(results), encoding="utf-8")
        os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    found: dict[int, Outcome] = {}
    for job in range(jobs):
        results = json.loads((folder / f"job-{job}.json").read_text(encoding="utf-8"))
        for number, (case, values) in enumerate(zip(cases[job::jobs], results, strict=True)):
            found[job + number * jobs] = Outcome(case, *values)
    return [found[number] for number in range(len(cases))]


def summary(outcomes: list[Outcome]) -> dict[str, object]:
    """Return the counts by verb, the problems, and the largest time and memory."""
    verbs: dict[str, Counter[str]] = {}
    for one in outcomes:
        counts = verbs.setdefault(one.case.verb, Counter(tried=0, refused=0, worked=0, bad=0))
        counts["tried"] += 1
        counts["bad" if one.problems else "refused" if one.status == 2 else "worked"] += 1
    bad = [
        {"verb": one.case.verb, "case": one.case.name, "problems": one.problems, "said": one.said[-500:]}
        for one in outcomes
        if one.problems
    ]
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "limits": {"seconds": SECONDS, "bytes": MEMORY},
        "tried": len(outcomes),
        "must_be_refused": sum(one.case.expected == REFUSED for one in outcomes),
        "refused": sum(one.status == 2 and not one.problems for one in outcomes),
        "worked": sum(one.status != 2 and not one.problems for one in outcomes),
        "bad": bad,
        "problems": dict(Counter(problem for one in outcomes for problem in one.problems)),
        "longest_seconds": round(max((one.seconds for one in outcomes), default=0), 2),
        "largest_bytes": max((one.memory for one in outcomes), default=0),
        "verbs": {verb: dict(counts) for verb, counts in sorted(verbs.items())},
    }


def table(report: dict[str, object]) -> str:
    """Return the report as Markdown."""
    lines = ["| verb | tried | refused well | worked | bad |", "|---|---:|---:|---:|---:|"]
    verbs = report["verbs"]
    assert isinstance(verbs, dict)
    for verb, counts in verbs.items():
        lines.append(f"| {verb} | {counts['tried']} | {counts['refused']} | {counts['worked']} | {counts['bad']} |")
    bad, memory = report["bad"], report["largest_bytes"]
    assert isinstance(bad, list) and isinstance(memory, int)
    lines.append(f"| **all** | {report['tried']} | {report['refused']} | {report['worked']} | {len(bad)} |")
    problems = report["problems"] or "none"
    return "\n".join(
        [
            *lines,
            "",
            f"Problems: {problems}. Longest: {report['longest_seconds']} s. Peak memory: {memory / 1e6:,.0f} MB.",
            "",
        ]
    )


if __name__ == "__main__":
    main()
