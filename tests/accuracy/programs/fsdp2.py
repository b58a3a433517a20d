"""A small transformer under fully_shard (FSDP2). torchrun --nproc-per-node 2 fsdp2.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import fully_shard

from rank_device import rank_device


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    width, words = 128, 1000
    model = nn.Sequential(nn.Embedding(words, width), *(
        nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, dropout=0.0) for _ in range(4)), nn.Linear(width, words)).to(device)
    for layer in model:
        if isinstance(layer, nn.TransformerEncoderLayer):
            fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(dist.get_rank())
    for step in range(steps):
        tokens = torch.randint(words, (8, 65), device=device)
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
