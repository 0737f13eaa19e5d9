"""How much of a machine training uses: the FLOPs of its batches, over what the machine could do in the same time.

Counted is what is computed: padded rectangles in encoder and decoder, the real target tokens alone in the output layer.
So the share says how well the machine is used; padding is a waste of another kind, and does not lower it. Only matrix
products count. The attention's are full squares, though a kernel may skip what lies in the future. What dropout, norms
and Adam take is not counted: it is why 100 % is out of reach.

Forward, a token passes the projections of its layers: 4·D² in an attention, 2·D·F in a feed-forward network, V·D in the
output layer. Each query meets each key twice, in QKᵀ and in the average of the values: 2·D. That is in multiplications;
with each goes an addition. Backward, every product has two of the same size, one for each of its factors.

`costs` counts the same by taking an update on the `meta` device, for any model but in seconds; this formula is the
Transformer's, and free.
"""

from __future__ import annotations

from manyheads.config.schema import ModelConfig
from manyheads.data.batches.pairs import Batch

OPERATIONS = 2  # a multiplication and an addition
PASSES = 3  # forward, and backward for both factors of every product


class BatchFlops:
    """The FLOPs of training a Transformer on a batch, forward and backward."""

    def __init__(self, config: ModelConfig, *, views: int = 1) -> None:
        """Prepare for a model; `views` is how often it sees each batch (twice with R-Drop)."""
        model = config.model
        projection, network = model.width**2, 2 * model.width * model.feed_forward
        encoder, decoder = model.encoder_layers, model.decoder_layers
        # Attention over the encoder's output has its keys and values per source token, the rest per target token.
        self._source = encoder * (4 * projection + network) + decoder * 2 * projection
        self._target = decoder * (6 * projection + network)
        self._encoder_pair = encoder * 2 * model.width
        self._decoder_pair = decoder * 2 * model.width
        self._output = config.target_vocabulary * model.width
        self._factor = OPERATIONS * PASSES * views

    def __call__(self, batch: Batch) -> int:
        """Return the FLOPs of a batch."""
        rows, source = batch.source.shape
        target = batch.target_in.shape[1]
        stacks = source * self._source + target * self._target
        pairs = source**2 * self._encoder_pair + target * (source + target) * self._decoder_pair
        output = int(batch.target_lengths.sum()) * self._output
        return self._factor * int(rows * (stacks + pairs) + output)
