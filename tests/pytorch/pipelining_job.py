"""Pipelines built as torchtitan and as PiPPy build them: torchrun --nproc-per-node 2 pipelining_job.py MODE STEPS FORWARD BACKWARD.

MODE: torchtitan (every stage is a copy of the whole model without the other stages' modules, two of them on each rank,
Interleaved1F1B by its name, gradients clipped by the norm over all stages), pippy_gpipe and pippy_1f1b (the model is traced and split
in front of a named module). Four microbatches a step. FORWARD and BACKWARD: milliseconds of a core that each forward and each backward
pass takes in addition, so that none is shorter, however busy the machine is.
"""
import copy
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.pipelining import PipelineStage, SplitPoint, pipeline
from torch.distributed.pipelining.schedules import get_schedule_class

MODE, STEPS, FORWARD, BACKWARD = sys.argv[1], *map(int, sys.argv[2:5])
MICROBATCHES, BATCH, WIDTH, VOCABULARY, LAYERS = 4, 8, 32, 64, 4


class Model(nn.Module):
    """A stage lacks some of these modules: what is left is called all the same."""

    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleDict({str(number): nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for number in range(LAYERS)})
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.tok_embeddings(tokens) if self.tok_embeddings is not None else tokens
        for layer in self.layers.values():
            x = layer(x)
        return self.output(x) if self.output is not None else x


def compute(milliseconds):
    """Time of a core, and no less by the clock on the wall, which may run a little slower."""
    computed, passed = time.thread_time() + milliseconds / 1000, time.monotonic() + milliseconds / 1000
    while time.thread_time() < computed or time.monotonic() < passed:
        pass


def slow_down(module):
    """From outside of the module: tracing would not keep it."""

    def compute_in_both(_, inputs, output):
        compute(FORWARD)
        if output.requires_grad:
            output.register_hook(lambda _: compute(BACKWARD))

    module.register_forward_hook(compute_in_both)


def stage_of(whole, index, names, group):
    module = copy.deepcopy(whole)
    for name in list(module.layers):
        if f"layers.{name}" not in names[index]:
            del module.layers[name]
    for name in ("tok_embeddings", "output"):
        if name not in names[index]:
            setattr(module, name, None)
    return PipelineStage(module, index, len(names), torch.device("cpu"), group=group)


def torchtitan(rank, size):
    group = init_device_mesh("cpu", (size,), mesh_dim_names=("pp",)).get_group("pp")
    names = [[f"layers.{number}"] for number in range(LAYERS)]
    names[0].append("tok_embeddings")
    names[-1].append("output")
    whole = Model()
    stages = [stage_of(whole, index, names, group) for index in range(rank, len(names), size)]
    make = get_schedule_class("Interleaved1F1B")
    return stages, make(stages, n_microbatches=MICROBATCHES, loss_fn=loss_of, scale_grads=False)


def pippy(rank, schedule):
    shown = torch.zeros(BATCH // MICROBATCHES, WIDTH, dtype=torch.int64)
    stages = pipeline(Model(), mb_args=(shown,), split_spec={f"layers.{LAYERS // 2}": SplitPoint.BEGINNING})
    stage = stages.build_stage(rank, torch.device("cpu"), dist.group.WORLD)
    return [stage], get_schedule_class(schedule)(stage, n_microbatches=MICROBATCHES, loss_fn=loss_of)


def loss_of(logits, target):
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    stages, schedule = torchtitan(rank, size) if MODE == "torchtitan" else pippy(rank, MODE.removeprefix("pippy_"))
    for stage in stages:
        slow_down(stage.submod)
    optimizers = [torch.optim.SGD(stage.submod.parameters(), lr=0.1) for stage in stages]
    parameters = [parameter for stage in stages for parameter in stage.submod.parameters()]
    for _ in range(STEPS):
        tokens = torch.randint(VOCABULARY, (BATCH, WIDTH))
        for optimizer in optimizers:
            optimizer.zero_grad()
        losses = []
        target = {"target": tokens, "losses": losses} if any(stage.is_last for stage in stages) else {}
        schedule.step(*([tokens] if any(stage.is_first for stage in stages) else []), **target)
        if MODE == "torchtitan":
            norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
            squared = norm ** 2
            dist.all_reduce(squared)
            nn.utils.clip_grads_with_norm_(parameters, 1.0, squared.sqrt())
        for optimizer in optimizers:
            optimizer.step()
        if losses:
            os.write(1, f"loss {sum(loss.item() for loss in losses):.3f}\n".encode())
    dist.barrier()
    dist.destroy_process_group()


main()
