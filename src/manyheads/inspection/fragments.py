"""Results of an inspector as HTML without script, for notebooks (`_repr_html_`) and static pages.

All texts of a model or a user are escaped here, once. Colours are transparent, so that they also work on a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from manyheads.data.tokens.tokenizers import SPACE
from manyheads.inspection.alignment import Alignment
from manyheads.inspection.beam_tree import BeamTree, Node
from manyheads.inspection.earlier_text import EarlierTextView
from manyheads.inspection.halting import HaltingView
from manyheads.inspection.remembering import MemoryView
from manyheads.inspection.steps import Done, Step
from manyheads.inspection.views import Array, AttentionView, Everything

INK = "31, 92, 173"  # red, green, blue
COLUMN, ROW, NODE_WIDTH, NODE_HEIGHT = 110, 34, 84, 24  # of the tree, in pixels
LONGEST = 11  # characters in a node
NAMES = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
BOXES = {
    "best": "fill-opacity='.3'",
    "finished": "fill='none' stroke-width='2'",
    "kept": "fill='none'",
    "dropped": "fill='none' stroke-dasharray='3'",
}


def token_html(token: str) -> str:
    """Return a token as HTML; a space marker is shown as a dot, the end token as a square."""
    return escape(token.replace(SPACE, "·").replace("</s>", "∎"))


def heat_table(
    weights: Array, rows: Sequence[str], columns: Sequence[str], framed: Iterable[tuple[int, int]] = ()
) -> str:
    """Return weights [rows, columns] as a heat map with token labels; cells (row, column) in `framed` get a frame."""
    framed = set(framed)
    head = "".join(f"<th>{token_html(column)}</th>" for column in columns)
    body = "".join(
        f"<tr><th style='text-align:right'>{token_html(token)}</th>"
        + "".join(_cell(float(weight), (row, column) in framed) for column, weight in enumerate(values))
        + "</tr>"
        for row, (token, values) in enumerate(zip(rows, weights, strict=True))
    )
    return f"<table style='border-collapse:collapse'><tr><th></th>{head}</tr>{body}</table>"


def _cell(weight: float, framed: bool) -> str:
    """Return one cell; its tooltip shows the weight."""
    border = f"border:1px solid rgb({INK});" if framed else ""
    style = f"{border}min-width:1.2em;height:1.2em;background:rgba({INK},{weight:.3f})"
    return f"<td title='{weight:.3f}' style='{style}'></td>"


def attention_fragment(view: AttentionView) -> str:
    """Return all heads of one layer."""
    heads = "".join(
        f"<figure style='display:inline-block;margin:.5em'><figcaption>head {number}</figcaption>"
        f"{heat_table(weights, view.queries, view.keys)}</figure>"
        for number, weights in enumerate(view.weights, start=1)
    )
    return f"<p>{NAMES[view.kind]}, layer {view.layer}</p><div>{heads}</div>"


def everything_fragment(seen: Everything) -> str:
    """Return the texts, and all heads of the last layer of the cross-attention, or of the only kind of attention."""
    translated = f" → <b>{escape(seen.translation)}</b>" if seen.translation else ""
    view = seen.view(seen.main_kind)
    return f"<p>{escape(seen.text)}{translated}</p>{attention_fragment(view)}"


def alignment_fragment(aligned: Alignment) -> str:
    """Return the weights of an alignment; the largest weight of each target token is framed."""
    framed = [(target, source) for source, target in aligned.pairs("token")]
    return heat_table(aligned.weights, aligned.target_tokens, aligned.source_tokens, framed)


def memory_fragment(view: MemoryView) -> str:
    """Return the facts of a story with what each hop reads of them, the question and the answer."""
    asked = f"<p>{escape(view.question)} <b>{escape(view.answer)}</b> <small>{view.probability:.1%}</small></p>"
    return heat_table(view.weights, view.facts, view.hops) + asked


def earlier_text_fragment(view: EarlierTextView) -> str:
    """Return how much each head reads of the piece and of each memory, and from how far back."""
    return heat_table(view.shares, view.heads, view.parts) + heat_table(view.distances, view.heads, view.ranges)


def halting_fragment(view: HaltingView) -> str:
    """Return the tokens of both sides, darker the more steps they take, with the number of steps."""
    sides = []
    for name, side in view.sides.items():
        tokens = (_counted(*pair, view.most) for pair in zip(side.tokens, side.steps, strict=True))
        sides.append(f"<p>{name}: {'&#8203;'.join(tokens)}</p>")
    return "".join(sides) + (f"<p><b>{escape(view.translation)}</b></p>" if view.translation else "")


def _counted(token: str, steps: int, most: int) -> str:
    """Return a token on a background that is darker for more steps, with their number."""
    return f"{_shaded(token, steps / most)}<sub>{steps}</sub>"


def steps_fragment(steps: Iterable[Step | Done]) -> str:
    """Return decoding steps as a table: a row per step with its candidates and the largest weight over all heads."""
    rows, ended = [], ""
    for step in steps:
        if isinstance(step, Done):
            ended = f"<p><b>{escape(step.translation)}</b></p>"
        else:
            rows.append(_step_row(step))
    titles = "".join(f"<th style='text-align:left'>{title}</th>" for title in ("step", "written", "likely", "looks at"))
    return f"{ended}<table style='text-align:left'><tr>{titles}</tr>{''.join(rows)}</table>"


def _step_row(step: Step) -> str:
    """Return one step as a row of the table."""
    likely = " ".join(
        f"{_shaded(candidate.token, candidate.probability)}<small> {candidate.probability:.1%}</small>"
        for candidate in step.candidates
    )
    strongest = step.cross.max(axis=0).tolist()
    looks = "&#8203;".join(_shaded(*pair) for pair in zip(step.source_tokens, strongest, strict=True))
    return f"<tr><td>{step.step}</td><th>{token_html(step.token)}</th><td>{likely}</td><td>{looks}</td></tr>"


def _shaded(token: str, weight: float) -> str:
    """Return a token on a background that is darker for a larger weight, and always light enough to read."""
    return f"<bdi title='{weight:.3f}' style='background:rgba({INK},{0.6 * weight:.3f})'>{token_html(token)}</bdi>"


def beam_fragment(tree: BeamTree) -> str:
    """Return beam search as an SVG tree, with a column per step and the most probable node on top, and its outputs."""
    layout = tree.layout()
    width = (1 + max(column for column, _ in layout.values())) * COLUMN
    height = (1 + max(row for _, row in layout.values())) * ROW
    edges = "".join(_edge(layout[node.parent], layout[node.id]) for node in tree.nodes if node.parent is not None)
    nodes = "".join(_node(node, *layout[node.id]) for node in tree.nodes)
    outputs = "".join(f"<tr><td>{leaf.score:.3f}</td><td>{escape(leaf.text)}</td></tr>" for leaf in tree.hypotheses)
    return (
        f"<div style='overflow-x:auto'><svg width='{width}' height='{height}' fill='rgb({INK})' stroke='rgb({INK})' "
        f"font-size='12'>{edges}{nodes}</svg></div><table><tr><th>score</th><th>output</th></tr>{outputs}</table>"
    )


def _edge(parent: tuple[int, int], child: tuple[int, int]) -> str:
    """Return the line between two nodes."""
    (left, above), (right, below) = parent, child
    ends = f"x1='{left * COLUMN + NODE_WIDTH}' y1='{above * ROW + NODE_HEIGHT / 2}'"
    return f"<line {ends} x2='{right * COLUMN}' y2='{below * ROW + NODE_HEIGHT / 2}' stroke-opacity='.5'/>"


def _node(node: Node, column: int, row: int) -> str:
    """Return a node: filled if it belongs to the best hypothesis, with a dashed border if it was dropped."""
    token = node.token if len(node.token) <= LONGEST else f"{node.token[: LONGEST - 1]}…"
    x, y = column * COLUMN, row * ROW
    size = f"width='{NODE_WIDTH}' height='{NODE_HEIGHT}'"
    box = f"<rect x='{x + 1}' y='{y + 1}' {size} rx='4' {BOXES[node.state]}/>"
    label = (
        f"<text x='{x + NODE_WIDTH / 2}' y='{y + 17}' text-anchor='middle' fill='currentColor' stroke='none'>"
        f"{token_html(token)}</text>"
    )
    return f"<g><title>{node.log_probability:.3f}, {node.state}</title>{box}{label}</g>"
