"""The result of an evaluation: scores of a run, its outputs, and comparisons with other runs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from manyheads.metrics.scores import Score


@dataclass(frozen=True)
class Evaluation:
    """The scores of a run on test data, its outputs, and comparisons with other runs if they were requested."""

    run: str
    examples: int
    scores: list[Score]
    outputs: list[str] = field(repr=False)
    perplexity: float | None = None
    against: tuple[str, ...] = ()
    comparisons: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    over_seeds: dict[str, Any] | None = None

    def __getitem__(self, metric: str) -> float:
        """Return the value of a metric, such as `evaluation["bleu"]`."""
        values = {score.name: score.value for score in self.scores}
        if self.perplexity is not None:
            values["perplexity"] = self.perplexity
        return values[metric]

    def __str__(self) -> str:
        return "\n".join([*self._score_lines(), *(["", *self._comparison_lines()] if self.against else [])])

    def _repr_html_(self) -> str:
        """Return this as a notebook shows it."""
        return f"<pre>{escape(str(self))}</pre>"

    def to_json(self) -> dict[str, Any]:
        """Return this as JSON has it, without the outputs."""
        values: dict[str, Any] = {
            "run": self.run,
            "pairs": self.examples,
            "scores": [asdict(score) for score in self.scores],
        }
        if self.perplexity is not None:
            values["perplexity"] = self.perplexity
        if self.against:
            values |= {
                "against": list(self.against),
                "comparisons": list(self.comparisons),
                "over_seeds": self.over_seeds,
            }
        return values

    def _score_lines(self) -> Iterator[str]:
        """Yield a line for each score, with sacreBLEU's signature if it has one."""
        for score in self.scores:
            yield _score_line(score.name, score.value) + (f"  {score.signature}" if score.signature else "")
        if self.perplexity is not None:
            yield _score_line("perplexity", self.perplexity)

    def _comparison_lines(self) -> Iterator[str]:
        """Yield a table of all runs by all metrics, and which tests its p-values come from."""
        several = len(self.against) > 1
        holm = "    Holm" if several else ""
        yield f"{'metric':<18}{'value':>8}  {'95 % interval':<18}{'p':>8}{holm}  {'difference':<16}run"
        for comparison in self.comparisons:
            for system in comparison["systems"]:
                yield _system_line(comparison["metric"], system, several=several)
        tests = ", ".join(f"{one['metric']} by {one['test']}" for one in self.comparisons)
        correction = f"; Holm: corrected for {len(self.against)} comparisons" if several else ""
        yield f"p: the probability of such a difference to {self.run} if both are equally good ({tests}){correction}."
        if self.over_seeds is not None:
            for score in self.over_seeds["scores"]:
                yield (
                    f"{_score_line(score['metric'], score['mean'])} ± {score['standard_deviation']:.2f}  "
                    f"mean and standard deviation over {self.over_seeds['runs']} seeds"
                )


def _score_line(name: str, value: float) -> str:
    """Return the name and value of a metric in columns."""
    return f"{name:<18}{value:8.2f}"


def _system_line(metric: str, system: dict[str, Any], *, several: bool) -> str:
    """Return the row of a run in the table of comparisons; the first run has no p-values."""
    interval = f"[{system['low']:.2f}, {system['high']:.2f}]"
    is_compared = system["p_value"] is not None
    p_value = f"{system['p_value']:.4f}" if is_compared else ""
    corrected = "" if not several else f"{system['corrected']:8.4f}" if is_compared else 8 * " "
    verdict = "" if not is_compared else "significant" if system["significant"] else "could be chance"
    return (
        f"{_score_line(metric, system['value'])}  {interval:<18}{p_value:>8}{corrected}  {verdict:<16}{system['run']}"
    )
