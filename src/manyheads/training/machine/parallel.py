"""One objective on several processes: each has a full copy (data parallel), or each keeps a shard (fully sharded).

In both cases each process computes its own micro-batches, and the gradients are averaged. The implementations are
PyTorch's: DistributedDataParallel, and `fully_shard` (FSDP2).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.nn.parallel import DistributedDataParallel

from manyheads.layers.decoder import DecoderLayer
from manyheads.layers.encoder import EncoderLayer
from manyheads.training.machine.distributed import World

Sharding = Literal["none", "full"]


def spread(objective: nn.Module, world: World, sharding: Sharding) -> nn.Module:
    """Return the module to call in place of the objective, so that all processes train together."""
    if world.size == 1:
        return objective
    if sharding == "full":
        return _shard(objective, world)
    device_ids = [world.device] if world.device.type == "cuda" else None
    return DistributedDataParallel(objective, device_ids=device_ids)


def _shard(objective: nn.Module, world: World) -> nn.Module:
    """Shard every parameter over the processes; a unit is gathered when it is computed.

    A decoder layer is not a unit: its cross-attention computes keys and values before the layer is called.
    """
    # The warning is about in-place changes of a unit's output; there are none here (see layers/add_norm.py).
    warnings.filterwarnings("ignore", message="FSDP2-wrapped module .* returned a view tensor")
    mesh = init_device_mesh(world.device.type, (world.size,))
    for module in objective.modules():
        if isinstance(module, EncoderLayer):
            fully_shard(module, mesh=mesh)
        elif isinstance(module, DecoderLayer):
            fully_shard(module.self_attention, mesh=mesh)
            fully_shard(module.feed_forward, mesh=mesh)
    fully_shard(objective, mesh=mesh)
    return objective


@contextmanager
def gradient_sync(objective: nn.Module, *, enabled: bool) -> Iterator[None]:
    """Average the block's gradients over all processes; if not enabled, only accumulate: more micro-batches follow."""
    if isinstance(objective, FSDPModule):
        objective.set_requires_gradient_sync(enabled)
        yield
    elif isinstance(objective, DistributedDataParallel) and not enabled:
        with objective.no_sync():
            yield
    else:
        yield
