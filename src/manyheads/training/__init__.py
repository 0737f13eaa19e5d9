"""Training: one loop for every model and task.

| file | what it is |
|---|---|
| `train` | the library's function: from a recipe, or files, to a run folder |
| `trainer` | the loop |
| `learner` | the model with its optimiser, and one update |
| `lookahead` | the next batches, laid out while the present ones are computed |
| `summary` | the end of a training: score, samples, and what to do next |
| `progress` | what is shown of it: on a terminal, in a notebook, in a log |
| `files`, `defaults` | files in place of a recipe, and a recipe chosen for data |
| `starting_points` | a model to start from, where there are few pairs |
| `corpus_statistics` | what a corpus looks like, in numbers |
| `planning`, `fitting` | steps that fit a time, and a model and intervals that suit them |
| `resolve` | a recipe as it is trained: checked, and completed if it has data alone |
| `describe` | the library's function: a recipe or a run with its size and costs |
| `costs` | parameters, FLOPs, memory and time of a recipe, before it is trained |
| `optimisation/` | schedule, optimisers, averages |
| `state/` | checkpoints, the published model, the journal |
| `machine/` | processes, precision, speed |
"""
