"""Recipes: the typed description of a run, where it comes from, and what is said when it is wrong.

| file | what it is |
|---|---|
| `schema` | every key a recipe may have, with its type, default and one line of explanation |
| `data`, `model` | those of what is learned from, and of what is built |
| `bert`, `cut` | those of recipes for BERTs, and of cuts into training and test data |
| `values` | the kinds of values that keys have |
| `presets` | the model sizes by name |
| `recipe` | reading, merging (preset < recipe < `--set`) and writing recipes |
| `messages` | one clear sentence for each kind of mistake |
| `template` | the annotated recipe of `manyheads recipe new`, and the reference page |
"""
