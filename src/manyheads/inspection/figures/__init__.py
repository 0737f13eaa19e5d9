"""Pictures, one file per concept. Each function returns a matplotlib figure; `canvas.save` writes it as PNG or SVG.

| file | what it draws |
|---|---|
| `canvas` | nothing itself: creates, labels and saves figures, without global state |
| `fonts` | nothing itself: finds installed fonts that have the characters of a text |
| `attention` | one head, all heads of a layer, or all layers |
| `alignment` | attention weights between source and target tokens or words |
| `memory` | what each hop of a memory network reads of each fact |
| `earlier_text` | what a language model with a memory reads of it |
| `halting` | how many steps in depth each token takes |
| `steps` | decoding steps, with candidates and attention |
| `beam` | beam search as a tree |
| `positions` | the positional encodings and their dot products |
| `masks` | padding mask, look-ahead mask, and both |
| `schedule` | the learning rate over time |
| `smoothing` | the label-smoothed target, and its effect on the loss |
| `curves` | loss, scores and learning rate of one or several runs |

matplotlib is installed by `pip install 'manyheads[plots]'`, and imported when the first figure is drawn.
"""
