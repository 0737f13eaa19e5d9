"""`python -m manyheads`, which is also what torchrun starts."""

from manyheads.cli import main

main()
