"""What `lockstep record --operators` costs an operator, a module's call, and a step.

    for i in 1 2 3; do
      lockstep record -o /tmp/without --force -- python operators_benchmark.py
      lockstep record -o /tmp/with --force --operators -- python operators_benchmark.py
    done

One process, a process group of one rank on Gloo. Each run prints the fast decile of its times; the cost
is the difference.
"""
import os
import statistics
import time

import torch
import torch.distributed as dist


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def fast(work, count, rounds=60):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(count):
            work()
        times.append((time.perf_counter_ns() - begin) / count)
    return statistics.quantiles(times, n=10)[0]


def main():
    torch.set_num_threads(1)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "0")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    one = torch.ones(1)
    nothing = torch.nn.Identity()
    print(f"an operator (relu_): {fast(lambda: torch.relu_(one), 500):.0f} ns", flush=True)
    print(f"a module (Identity): {fast(lambda: nothing(one), 500):.0f} ns", flush=True)
    model = torch.nn.Sequential(*(Block(256) for _ in range(8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(64, 256)

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    print(f"a step of 8 blocks: {fast(step, 1) / 1e6:.3f} ms", flush=True)
    dist.destroy_process_group()


main()
