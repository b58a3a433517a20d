"""A hand-written loop with Accelerate. torchrun --nproc-per-node 2 accelerate_loop.py [STEPS]"""
import sys

import torch
import torch.nn as nn
from accelerate import Accelerator


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
    model = nn.Sequential(nn.Linear(1024, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.utils.data.TensorDataset(torch.randn(64 * 2 * steps, 1024), torch.randint(10, (64 * 2 * steps,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        optimizer.step()
        if step % 20 == 0:
            accelerator.print(f"step {step} loss {loss.item():.3f}", flush=True)
    accelerator.end_training()


main()
