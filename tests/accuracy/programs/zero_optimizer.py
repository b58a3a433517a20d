"""DDP with ZeroRedundancyOptimizer: optimizer state split over ranks. torchrun --nproc-per-node 2 zero_optimizer.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from rank_device import rank_device


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [nn.Linear(256, 256) for _ in range(6)]
    model = DistributedDataParallel(nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU()))).to(device))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=1e-3)
    torch.manual_seed(dist.get_rank())
    for step in range(steps):
        x = torch.randn(256, 256, device=device)
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
