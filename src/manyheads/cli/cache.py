"""`manyheads data cache`: the token ids that trainings keep, with their size and age."""

from __future__ import annotations

from typing import Annotated

import typer

from manyheads.cli.options import AsJson


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything; trainings make what they need.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the token ids that trainings keep, with their size and age; what is not used for 30 days is removed."""
    from manyheads.data.batches import cache as stores

    found = stores.clear() if clear else stores.entries()
    total = sum(entry.bytes for entry in found)
    if as_json:
        import json
        from dataclasses import asdict

        rows = [{**asdict(entry), "path": str(entry.path), "age": round(entry.age)} for entry in found]
        facts = {"folder": str(stores.cache_folder()), "removed": clear, "bytes": total, "stores": rows}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for entry in found:
        days = entry.age / stores.DAY
        typer.echo(
            f"{entry.bytes / 1e6:10,.1f} MB  {days:5.1f} days  {entry.kind:<5}  {entry.origin or entry.path.name}"
        )
    verb = "removed from" if clear else "in"
    noun = "store" if len(found) == 1 else "stores"
    typer.echo(f"{len(found)} {noun} with {total / 1e6:,.1f} MB {verb} {stores.cache_folder()}.")
