"""A hand-written loop with Accelerate, which evaluates and saves every 20 steps. torchrun --nproc-per-node 2 accelerate_saving.py [STEPS]"""
import sys

import torch
import torch.nn as nn
from accelerate import Accelerator

from shared_folder import shared_folder


@torch.no_grad()
def evaluate(accelerator, model, loader):
    model.eval()
    losses = [accelerator.gather_for_metrics(nn.functional.cross_entropy(model(x), y, reduction="none")) for x, y in loader]
    model.train()
    return torch.cat(losses).mean().item()


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    model = nn.Sequential(nn.Linear(1024, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.utils.data.TensorDataset(torch.randn(64 * 2 * steps, 1024), torch.randint(10, (64 * 2 * steps,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    held_out = torch.utils.data.TensorDataset(torch.randn(2 * 2 * 256, 1024), torch.randint(10, (2 * 2 * 256,)))
    held_out_loader = torch.utils.data.DataLoader(held_out, batch_size=256)
    model, optimizer, loader, held_out_loader = accelerator.prepare(model, optimizer, loader, held_out_loader)
    with shared_folder() as folder:
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            if step % 20 == 0:
                accelerator.print(f"step {step} loss {loss.item():.3f}", flush=True)
            if step % 20 == 19:
                accelerator.print(f"step {step} loss on held-out data {evaluate(accelerator, model, held_out_loader):.3f}", flush=True)
                accelerator.save_state(folder)
    accelerator.end_training()


main()
