"""What following PyTorch costs: a collective, and a step.

    lockstep record -o /tmp/run -- python hook_benchmark.py [--rounds 40]

One process, a process group of one rank on Gloo; recording is switched off and on in turns, so that both sides meet
the same machine. Prints the fast decile of each side and the difference, beside the limits of 5 and 20 microseconds.
"""
import argparse
import ctypes
import importlib
import os
import statistics
import time

import torch
import torch.distributed as dist


def paired(name, limit, rounds, work, pause):
    sides = {False: [], True: []}
    for turn in range(2 * rounds):
        paused = turn % 2 == 0
        pause(paused)
        sides[paused].append(work())
    pause(False)
    # The fast decile of each side: what else a machine does only adds.
    off, on = (statistics.quantiles(sides[paused], n=10)[0] for paused in (True, False))
    median = statistics.median(sides[False]) - statistics.median(sides[True])
    print(f"{name}: {1e6 * off:.2f} us without, {1e6 * on:.2f} us with: {1e6 * (on - off):+.2f} us (limit {limit} us); "
          f"medians differ by {1e6 * median:+.2f} us")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "0")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    if "LOCKSTEP_INJECTION" not in os.environ:
        raise SystemExit("run it under lockstep record, as --help says")
    library = ctypes.PyDLL(os.environ["LOCKSTEP_INJECTION"])
    hooked = torch.autograd.backward
    optimizers = importlib.import_module("torch.optim.optimizer")
    hooks = [(registered, dict(registered)) for registered in (optimizers._global_optimizer_pre_hooks,
                                                               optimizers._global_optimizer_post_hooks)]

    def pause(paused):
        library.lockstep_pytorch_pause(paused)
        torch.autograd.backward = hooked.__wrapped__ if paused else hooked
        for registered, all_of_them in hooks:
            registered.clear()
            if not paused:
                registered.update(all_of_them)

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(1, 4)
    data = torch.zeros(1)

    def collectives(count=50):
        begin = time.perf_counter()
        for _ in range(count):
            dist.all_reduce(data)
        return (time.perf_counter() - begin) / count

    def steps(count=50):
        begin = time.perf_counter()
        for _ in range(count):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        return (time.perf_counter() - begin) / count

    collectives()
    steps()
    paired("a collective", 5, rounds, collectives, pause)
    paired("a step", 20, rounds, steps, pause)
    dist.destroy_process_group()


main()
