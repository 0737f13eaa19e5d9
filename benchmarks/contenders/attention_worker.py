"""One layer at one length in a process of its own, so that its memory is its alone: seconds, peak memory, FLOPs.

python attention_worker.py NAME LENGTH [forward]
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import flop_counter

from manyheads.memory import keep_freed_memory

WIDTH, HEADS, INNER, BATCH = 256, 4, 1024, 1
LONGEST = 32768
WARM_UP = 3  # calls after the first: by then the C library has all the memory that is needed, as in a training
OURS: dict[str, dict[str, Any]] = {
    "full": {},
    "full with weights": {},
    "window": {"kind": "window", "window": 128},
    "longformer": {"kind": "window", "window": 128, "global_tokens": 16},
    "bigbird": {"kind": "bigbird", "block": 64, "random_blocks": 3},
    "performer": {"kind": "performer", "features": 256},
    "linear": {"kind": "linear"},
    "linformer": {"kind": "linformer", "rank": 256},  # learned for the length at hand, as the peer's
    "hashing": {"kind": "hashing", "chunk": 64, "rounds": 2},
}


def attention(name: str, length: int) -> nn.Module:
    """Return our self-attention of a kind, as a model for sequences of a length has it."""
    from manyheads.config.models.attention import AttentionSettings, TransformerSettings
    from manyheads.models.transformer import self_attention

    learned = {"length": length} if name == "linformer" else {}
    settings = TransformerSettings(
        width=WIDTH,
        heads=HEADS,
        attention=AttentionSettings(**OURS[name], **learned),
        decoder_attention=AttentionSettings(),
    )
    return self_attention(settings, 0, causal=False)


def our_layer(name: str, length: int) -> Callable[[Tensor], Tensor]:
    """Return one whole encoder layer with an attention of a kind."""
    from manyheads.attention.masks import EVERYTHING
    from manyheads.layers.encoder import EncoderLayer
    from manyheads.layers.feed_forward import FeedForward

    inside = attention(name, length)
    layer = EncoderLayer(inside, FeedForward(WIDTH, INNER), dropout=0.0, order="pre")
    if name == "full with weights":
        inside.observer = lambda weights: None
    return lambda inputs: layer(inputs, EVERYTHING)


def our_attention(name: str, length: int) -> Callable[[Tensor], Tensor]:
    """Return our attention alone, with its projections."""
    from manyheads.attention.masks import EVERYTHING

    inside = attention(name, length)
    return lambda inputs: inside(inputs, EVERYTHING)


def hugging_face_longformer() -> Callable[[Tensor], Tensor]:
    """Hugging Face's Longformer: the same window, the same global tokens."""
    from transformers import LongformerConfig
    from transformers.models.longformer.modeling_longformer import LongformerAttention

    config = LongformerConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, attention_window=[256], attention_probs_dropout_prob=0.0
    )
    layer = LongformerAttention(config, layer_id=0)

    def run(inputs: Tensor) -> Tensor:
        facts = torch.zeros(inputs.shape[:2])
        facts[:, :16] = 10000.0
        found = layer.self(
            inputs,
            attention_mask=facts,
            is_index_masked=facts < 0,
            is_index_global_attn=facts > 0,
            is_global_attn=True,
        )[0]
        return layer.output.dense(found)

    return run


def hugging_face_bigbird() -> Callable[[Tensor], Tensor]:
    """Hugging Face's BigBird: the same blocks, as many random ones."""
    from transformers import BigBirdConfig
    from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention, BigBirdModel

    config = BigBirdConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        block_size=64,
        num_random_blocks=3,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=LONGEST,
    )
    layer, output = BigBirdBlockSparseAttention(config, seed=0), nn.Linear(WIDTH, WIDTH)

    def run(inputs: Tensor) -> Tensor:
        blocked, band, start, stop = BigBirdModel.create_masks_for_block_sparse_attn(torch.ones(inputs.shape[:2]), 64)
        return output(layer(inputs, band, start, stop, blocked, blocked)[0])

    return run


def hugging_face_reformer() -> Callable[[Tensor], Tensor]:
    """Hugging Face's Reformer: the same chunks, as many hashes."""
    from transformers import ReformerConfig
    from transformers.models.reformer.modeling_reformer import LSHSelfAttention

    config = ReformerConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        attention_head_size=WIDTH // HEADS,
        lsh_attn_chunk_length=64,
        num_hashes=2,
        lsh_num_chunks_after=0,
        num_buckets=None,
        is_decoder=False,
        hash_seed=1,
        max_position_embeddings=LONGEST,
    )
    layer, output = LSHSelfAttention(config), nn.Linear(WIDTH, WIDTH)
    return lambda inputs: output(layer(inputs, num_hashes=2).hidden_states)


def performer_pytorch() -> Callable[[Tensor], Tensor]:
    """performer-pytorch's self-attention with as many features."""
    from performer_pytorch import SelfAttention

    return SelfAttention(dim=WIDTH, heads=HEADS, dim_head=WIDTH // HEADS, nb_features=256, causal=False)


def linformer(length: int) -> Callable[[Tensor], Tensor]:
    """The self-attention of the package linformer, of the same rank."""
    from linformer.linformer import LinformerSelfAttention

    return LinformerSelfAttention(dim=WIDTH, seq_len=length, k=256, heads=HEADS, one_kv_head=False, share_kv=False)


def local_attention() -> Callable[[Tensor], Tensor]:
    """local-attention: the keys of a block and of the two beside it."""
    from local_attention.transformer import LocalMHA

    return LocalMHA(
        dim=WIDTH,
        window_size=128,
        dim_head=WIDTH // HEADS,
        heads=HEADS,
        causal=False,
        prenorm=False,
        exact_windowsize=True,
    )


def linear_attention_transformer() -> Callable[[Tensor], Tensor]:
    """linear-attention-transformer's self-attention, no local heads."""
    from linear_attention_transformer.linear_attention_transformer import SelfAttention

    return SelfAttention(WIDTH, HEADS, causal=False)


PEERS: dict[str, tuple[str, Callable[..., Callable[[Tensor], Tensor]]]] = {
    "transformers, Longformer": ("longformer", hugging_face_longformer),
    "transformers, BigBird": ("bigbird", hugging_face_bigbird),
    "transformers, Reformer": ("hashing", hugging_face_reformer),
    "performer-pytorch": ("performer", performer_pytorch),
    "linformer": ("linformer", linformer),
    "local-attention": ("window", local_attention),
    "linear-attention-transformer": ("linear", linear_attention_transformer),
}
"""A library's attention, and ours that does the same."""
FUSED: dict[Any, Callable[..., int]] = {  # PyTorch's counter does not know what it has for processors
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: lambda queries, keys, values, *_, **__: (
        flop_counter.sdpa_flop_count(queries, keys, values)
    ),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: lambda back, queries, keys, values, *_, **__: (
        flop_counter.sdpa_backward_flop_count(back, queries, keys, values)
    ),
}


def build(name: str, length: int) -> Callable[[Tensor], Tensor]:
    """Return what is measured: `layer: window`, `attention: window`, or the name of a peer."""
    part, _, kind = name.partition(": ")
    if part == "layer":
        return our_layer(kind, length)
    if part == "attention":
        return our_attention(kind, length)
    maker = PEERS[name][1]
    return maker(length) if name == "linformer" else maker()


def measure(name: str, length: int, *, backward: bool) -> dict[str, Any]:
    """Return the median seconds of some calls, the peak of memory above what was there before, and the FLOPs of one."""
    keep_freed_memory()  # as `manyheads train` does, for everybody alike
    torch.manual_seed(1)
    work = build(name, length)
    inputs = torch.randn(BATCH, length, WIDTH, requires_grad=backward)

    def once() -> None:
        with torch.set_grad_enabled(backward):
            outputs = work(inputs)
            if backward:
                outputs.sum().backward()

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    once()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    for _ in range(WARM_UP):
        once()
    seconds: list[float] = []
    while len(seconds) < 3 or (sum(seconds) < 2.0 and len(seconds) < 15):
        begin = time.perf_counter()
        once()
        seconds.append(time.perf_counter() - begin)
    with flop_counter.FlopCounterMode(display=False, custom_mapping=FUSED) as counter:
        once()
    return {"seconds": statistics.median(seconds), "peak_bytes": peak * 1024, "flops": counter.get_total_flops()}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), backward=sys.argv[3:] != ["forward"])))
