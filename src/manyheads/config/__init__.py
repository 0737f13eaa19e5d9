"""Recipes: the typed description of a run, and the messages for mistakes in them.

| file | what it is |
|---|---|
| `recipe` | what the recipes of all tasks have in common |
| `tasks/` | the recipe of each task, and the union of them |
| `models/` | the settings of each model, and which models a task can use |
| `training` | how a model is trained |
| `corpora`, `modify`, `symbols` | corpora of pairs, tokenizers, changes to pairs, reserved symbols |
| `model_config` | the common part of `config.json` for all tasks |
| `alignment` | which attention aligns words |
| `special` | the ids of special tokens |
| `cut` | cuts into training and test data |
| `values`, `unions` | kinds of values; sections of which there are several kinds |
| `reading` | reading, merging (preset < recipe < `--set`) and writing recipes |
| `messages` | one clear sentence for each kind of mistake |
| `template` | the annotated recipe of `manyheads recipe new`, and the reference page |
"""
