"""The room of documents needs nothing but Python, so that a light installation reads all formats."""

from __future__ import annotations

import subprocess
import sys

ALONE = """
import importlib, pkgutil, sys
before = {name.partition(".")[0] for name in sys.modules}
import manyheads.documents as room
names = [module.name for module in pkgutil.iter_modules(room.__path__)]
for name in names:
    importlib.import_module(f"manyheads.documents.{name}")
loaded = {name.partition(".")[0] for name in sys.modules} - before - sys.stdlib_module_names
assert "po" in names and loaded == {"manyheads"}, loaded
"""


def test_no_format_loads_another_package():
    subprocess.run([sys.executable, "-c", ALONE], check=True)
