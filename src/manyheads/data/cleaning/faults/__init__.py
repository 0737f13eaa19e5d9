"""The faults that `manyheads data check` looks for, each in a file of its own."""
