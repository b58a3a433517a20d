"""Two stages of torch.distributed.pipelining, 1F1B, four microbatches. torchrun --nproc-per-node 2 pipeline.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

from rank_device import rank_device


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rank, stages = dist.get_rank(), dist.get_world_size()
    width, batch = 512, 128
    part = nn.Sequential(*(nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)) for _ in range(3))).to(device)
    stage = PipelineStage(part, rank, stages, device)
    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(part.parameters(), lr=0.01)
    x, target = torch.randn(2, batch, width, device=device)
    for step in range(steps):
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(x)
        elif rank == stages - 1:
            losses = []
            schedule.step(target=target, losses=losses)
            if step % 20 == 0:
                print(f"step {step} loss {losses[-1].item():.3f}", flush=True)
        else:
            schedule.step()
        optimizer.step()
    dist.destroy_process_group()


main()
