"""A small model on two ranks, of which one rank's one module is slower.

    lockstep record --operators -- torchrun … operators_job.py MODE

MODE is `even`, `slow` (rank 1's layers.1.mlp computes its result again and again), `compiled` (parts of the model by
torch.compile's eager back end, one of them with a graph break) or `raises` (a module's exception is caught). Prints
what the recording must not change: losses, and of `compiled` Dynamo's own counts.
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 60


class MLP(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)
        self.again = 0

    def forward(self, x):
        for _ in range(self.again):
            self.down(torch.relu(self.up(x)))
        return self.down(torch.relu(self.up(x)))


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.mix = torch.nn.Linear(width, width)
        self.mlp = MLP(width)

    def forward(self, x):
        x = x + self.mix(self.norm(x))
        return x + self.mlp(x)


class Picky(torch.nn.Module):
    def forward(self, x):
        raise ValueError("not this one")


class Model(torch.nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block(width) for _ in range(3))
        self.head = torch.nn.Linear(width, 8)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class Breaking(torch.nn.Module):
    """Where it breaks the graph its caller's is broken too: the call runs as Python, and both halves compiled."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        x = self.block(x)
        torch._dynamo.graph_break()
        return x + 1


class Chain(torch.nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.links = torch.nn.ModuleList(Breaking(Block(width)) for _ in range(length))
        self.head = torch.nn.Linear(width, 8)

    def forward(self, x):
        x = self.links[0](x)
        x = self.links[1](x)
        x = self.links[2](x)
        return self.head(x)


def tell(line):
    os.write(1, (line + "\n").encode())  # at once: both ranks write to one pipe


def main():
    mode = sys.argv[1]
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)
    model = Model()
    if mode == "slow" and rank == 1:
        model.layers[1].mlp.again = 60
    if mode == "compiled":
        model = torch.nn.Sequential(*(torch.compile(part, backend="eager") for part in (Block(192), Chain(192, 3))))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    losses = []
    for step in range(STEPS):
        torch.manual_seed(100 * step + rank)
        x, y = torch.randn(128, 192), torch.randint(8, (128,))
        optimizer.zero_grad()
        if mode == "raises":
            try:
                Picky()(x)
            except ValueError as problem:
                assert str(problem) == "not this one"
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(f"{loss.item():.9f}")
    tell(f"rank {rank}: {' '.join(losses)}")
    if mode == "compiled":
        from torch._dynamo.utils import counters
        for name in ("frames", "stats", "graph_break", "recompiles"):
            tell(f"rank {rank} {name}: {sorted(counters[name].items())}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
