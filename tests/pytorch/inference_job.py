"""Computes forward passes and trains nothing: inference_job.py MODE OUTPUT.

30 iterations, each with an all-gather of the results. MODE: "plain" (a module), "ddp", "two" (an encoder, and a decoder
twice), "train" (plain before training, and 10 steps with a frozen teacher in each). Prints the results' sums; leaves
OUTPUT.RANK.json: how long the forward passes took from outside, in ns, and whether Module.__call__ is PyTorch's own.
"""
import json
import sys
import time

import torch
import torch.distributed as dist

ITERATIONS = 30
own_call = torch.nn.Module.__call__
took = 0


class Net(torch.nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


class Decoder(Net):
    pass


def timed(model, x):
    global took
    began = time.monotonic_ns()
    y = model(x)
    took += time.monotonic_ns() - began
    return y


def infer(models):
    parts = [torch.zeros(4) for _ in range(dist.get_world_size())]
    for i in range(ITERATIONS):
        x = torch.full((128, 512), 1.0 + i)
        for model in models:
            x = timed(model, x)
        dist.all_gather(parts, x.sum(0)[:4].contiguous())
    # One write: lines of ranks that write at the same time stay whole.
    sys.stdout.write(f"rank {dist.get_rank()} {sum(parts).sum().item():.4f}\n")
    sys.stdout.flush()


def train(teacher):
    model = torch.nn.parallel.DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        x = torch.ones(32, 512)
        with torch.no_grad():
            wanted = teacher(x)
        (model(x) - wanted).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    mode, output = sys.argv[1:]
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    net = Net()
    model = torch.nn.parallel.DistributedDataParallel(net) if mode == "ddp" else net
    decoder = Decoder()
    decoder.eval()
    model.eval()
    with torch.no_grad():
        infer([model, decoder, decoder] if mode == "two" else [model])
    if mode == "train":
        train(net)
    is_own = torch.nn.Module.__call__ is own_call
    dist.barrier()
    with open(f"{output}.{dist.get_rank()}.json", "w") as file:
        json.dump({"forward": took, "call_is_own": is_own}, file)
    dist.destroy_process_group()


main()
