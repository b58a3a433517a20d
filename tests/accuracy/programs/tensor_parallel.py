"""Blocks split over ranks by DTensor's parallelize_module. torchrun --nproc-per-node 2 tensor_parallel.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from rank_device import rank_device


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    mesh = init_device_mesh(device.type, (dist.get_world_size(),), mesh_dim_names=("tp",))
    model = nn.Sequential(*(Block(256) for _ in range(4))).to(device)
    for block in model:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    for step in range(steps):
        x = torch.randn(256, 256, device=device)  # the same on all ranks
        loss = (model(x) - x.flip(0)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
