"""Readers with limits: whatever a file holds, reading it takes bounded time and memory, or is refused.

| file | what it is |
|---|---|
| `files` | whole files: regular ones, up to a size |
| `json_text` | JSON: depth, and the length of numbers |
| `yaml_text` | YAML: depth, size, aliases, the length of numbers |
| `machine` | the memory of this machine, and what does not fit into it |

Lines of texts have their limit where they are read, in `data/text/files.py`.
"""
