"""What a training run writes to disk.

| file | what it is |
|---|---|
| `checkpoint` | everything needed to continue, written atomically and verified when read |
| `publishing` | the run's model and its card |
| `journal` | metrics.jsonl and TensorBoard |
| `rescue` | a run folder beside one that disappeared during training |
| `background` | writing while training continues |
| `finishing` | the end of a run, fixed while it is running |
"""
