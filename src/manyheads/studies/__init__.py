"""Studies: questions about models, answered by measurements that anyone can repeat.

| file | what it is |
|---|---|
| `study` | the contract: a question, a grid of measurements, and what to conclude from them |
| `conclusion` | what a study concludes: sentences, tables, and panels of a picture |
| `bench` | `run_study`: measures what is not recorded yet, several items at a time |
| `statistics` | noise floor, bootstrap intervals, and effects corrected for their number |
| `drawing`, `report` | panels as a figure; `result.json`, `table.md`, `figure.png` and `figure.svg` |
| `catalogue` | the names of all studies |
| `complexity` | the cost of a layer, and where the costs of two kinds cross |
| `path_length`, `graph` | operations between two positions, counted in autograd's graph |
| `gradients` | gradients over distance |
| `positions` | positions beyond the lengths of training |
| `norms` | layer, RMS, batch and instance normalisation |
| `heads`, `head_measures`, `head_tables` | what heads do, what is measured of them, what follows |
| `algorithms` | simple algorithms, at the lengths of training and beyond |
| `ablations`, `parts` | what each part is worth; models without a part |
| `gold_alignments`, `forced` | words that people have aligned; attention between the words of given pairs |
| `scaling`, `scaling_laws`, `power_laws` | loss by parameters, data and compute; the fitted laws, and the fit |
| `plan`, `outlook`, `forecast` | what a training on some files would reach, from tiny ones; its laws; what came true |
| `slices` | random parts of a corpus |
| `training` | the runs of a study, also of models that are changed |
| `labelling` | a small task for models that recipes do not offer |
"""
