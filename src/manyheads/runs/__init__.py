"""The run folder: everything about a training run, in files of open formats. No pickle is ever written or read.

| file | what it is |
|---|---|
| `atomic` | files and folders that appear complete or not at all |
| `folder` | the layout of a run folder; recipe, configuration and tokenizers in it |
| `checksums` | checksums of a run's own files, which are right at any moment |
| `repair` | damaged files found and restored when a run is opened |
| `inputs` | fingerprints of the files that a run reads |
| `checkpoints` | what can be read of checkpoints without torch |
| `claim` | only one training at a time in a run folder |
| `shipped` | the models that come with the package, by name |
| `weights` | tensors as safetensors, checked name by name |
| `card` | `card.md`: data, scores, command, versions |
| `loading` | a run folder as a model (needs torch) |
"""
