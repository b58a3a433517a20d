"""Two stages that PyTorch's pipeline() (PiPPy) traces and splits, 1F1B, four microbatches. torchrun --nproc-per-node 2 pippy.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.pipelining import Schedule1F1B, SplitPoint, pipeline

from rank_device import rank_device


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rank, stages = dist.get_rank(), dist.get_world_size()
    width, batch, microbatches, blocks = 512, 128, 4, 6
    model = nn.Sequential(*(nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)) for _ in range(blocks)))
    split = {str(number * blocks // stages): SplitPoint.BEGINNING for number in range(1, stages)}
    traced = pipeline(model, mb_args=(torch.zeros(batch // microbatches, width),), split_spec=split)
    stage = traced.build_stage(rank, device)
    schedule = Schedule1F1B(stage, n_microbatches=microbatches, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(stage.submod.parameters(), lr=0.01)
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
