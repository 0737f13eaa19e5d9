"""Pictures, one file per concept. Each function returns a matplotlib figure; `canvas.save` writes it as PNG or SVG.

| file | what it draws |
|---|---|
| `canvas` | figures without global state, and files |
| `fonts` | the installed fonts that have the characters of a text |
| `attention` | one head, all heads of a layer, all layers |
| `alignment` | which source token each target token looks at |
| `positions` | the positional encodings and their dot products |
| `masks` | padding, look-ahead, and both |
| `schedule` | the learning rate over time |
| `smoothing` | the label-smoothed target, and what it makes of the loss |
| `curves` | loss, scores and learning rate of one or several runs |

matplotlib comes with `pip install 'manyheads[plots]'` and is imported when the first picture is drawn.
"""
