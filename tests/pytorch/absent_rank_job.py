"""Trains on all ranks, until the last one no longer comes: it says so in the file of argv[1], and waits for ever."""
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def load_batch():
    with open(sys.argv[1], "w") as file:
        file.write("absent")
    while True:
        time.sleep(1)


for step in range(20):
    if step == 10 and dist.get_rank() == dist.get_world_size() - 1:
        load_batch()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
