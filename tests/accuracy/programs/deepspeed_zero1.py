"""DeepSpeed, ZeRO stage 1. torchrun --nproc-per-node 2 deepspeed_zero1.py [STEPS]"""
import sys

import deepspeed
import torch
import torch.nn as nn


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    deepspeed.init_distributed("gloo")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
        "train_micro_batch_size_per_gpu": 64,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
        "zero_optimization": {"stage": 1},
    })
    torch.manual_seed(torch.distributed.get_rank())
    for step in range(steps):
        x, y = torch.randn(64, 1024), torch.randint(10, (64,))
        loss = nn.functional.cross_entropy(engine(x), y)
        engine.backward(loss)
        engine.step()
        if step % 20 == 0 and torch.distributed.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


main()
