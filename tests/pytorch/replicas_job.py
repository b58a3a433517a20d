"""Two copies of a pipeline of two stages, as DeepSpeed's engine runs them: its stand-in, with torch's own tensors and messages.

torchrun --nproc-per-node 4 replicas_job.py. Stages send by the group of all ranks, as DeepSpeed's do; four steps of 1F1B, four
microbatches each.
"""
import gc
import os
import sys

import torch
import torch.distributed as dist

# Before an installed DeepSpeed; torch itself is there already.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_ins"))

from deepspeed.runtime.pipe.engine import BackwardPass, ForwardPass, OptimizerStep, PipelineEngine  # noqa: E402

WIDTH, MICROBATCHES = 256, 4


class Send:
    pass


class Receive:
    pass


class Grid:
    """Ranks 0 and 1 hold the first stage, 2 and 3 the second."""

    def __init__(self, rank):
        pipelines, copies = ([dist.new_group(ranks) for ranks in lists] for lists in ([[0, 2], [1, 3]], [[0, 1], [2, 3]]))
        self.stage, self.copy = divmod(rank, 2)
        self.pipeline, self.copies = pipelines[self.copy], copies[self.stage]
        self.other = rank + 2 if self.stage == 0 else rank - 2

    def get_pipe_parallel_group(self):
        return self.pipeline


class Engine(PipelineEngine):
    def __init__(self, grid):
        self.grid = grid
        module = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH))
        super().__init__(module, MICROBATCHES, optimizer=torch.optim.SGD(module.parameters(), lr=0.01))
        self.held = []  # outputs of the first stage that wait for their gradients

    def send(self):
        dist.send(self.outputs.detach() if self.grid.stage == 0 else self.received.grad, self.grid.other)

    def receive(self):
        received = torch.empty(WIDTH, WIDTH)
        dist.recv(received, self.grid.other)
        if self.grid.stage == 0:
            self.outputs, self.gradients = self.held.pop(0), received
        else:
            self.next = received.requires_grad_()

    def forward_pass(self):
        if self.grid.stage == 1:
            self.received = self.next
        self.inputs = torch.randn(WIDTH, WIDTH) if self.grid.stage == 0 else self.received
        PipelineEngine._INSTRUCTION_MAP[ForwardPass](self)
        if self.grid.stage == 0:
            self.held.append(self.outputs)
        else:
            self.outputs = self.outputs.pow(2).mean()

    def step(self):
        for parameter in self.module.parameters():
            dist.all_reduce(parameter.grad, group=self.grid.copies)
        PipelineEngine._INSTRUCTION_MAP[OptimizerStep](self)
        self.optimizer.zero_grad()

    _INSTRUCTION_MAP = {**PipelineEngine._INSTRUCTION_MAP, Send: send, Receive: receive, ForwardPass: forward_pass,
                        OptimizerStep: step}

    def train_batch(self):
        # A message of Gloo's is over when the other side has asked for it: each stage receives before it sends.
        if self.grid.stage == 0:
            turns = [[ForwardPass, Send], *(3 * [[ForwardPass, Send, Receive, BackwardPass]]), [Receive, BackwardPass]]
        else:
            turns = [[Receive], *(3 * [[ForwardPass, BackwardPass, Receive, Send]]), [ForwardPass, BackwardPass, Send]]
        self._exec_schedule([*turns, [OptimizerStep]])


dist.init_process_group("gloo")
torch.set_num_threads(1)
engine = Engine(Grid(dist.get_rank()))
for _ in range(4):
    engine.train_batch()
# Gloo's threads let go of the last tensors before the interpreter goes down: one that needs it then aborts the process.
engine = None
gc.collect()
dist.barrier()
dist.destroy_process_group()
