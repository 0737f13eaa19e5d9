"""Renew the line numbers in docs/paper.md: each link names a symbol and points at the line that defines it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "paper.md"
LINK = re.compile(r"\[`(?P<symbol>[\w.]+)`\]\(\.\./(?P<file>[\w/]+\.py)#L(?P<line>\d+)\)")


def definitions(path: Path) -> dict[str, int]:
    """Return the line of every class, function, method and module-level name of a file, by dotted name."""
    lines: dict[str, int] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                lines[prefix + child.name] = child.lineno
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name):
                lines[prefix + child.targets[0].id] = child.lineno
            elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                lines[prefix + child.target.id] = child.lineno

    visit(ast.parse(path.read_text(encoding="utf-8")), "")
    return lines


def refreshed(text: str) -> str:
    """Return the page with every link's line renewed; a symbol that is gone is an error."""

    def renew(link: re.Match[str]) -> str:
        line = definitions(ROOT / link["file"])[link["symbol"]]
        return f"[`{link['symbol']}`](../{link['file']}#L{line})"

    return LINK.sub(renew, text)


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
