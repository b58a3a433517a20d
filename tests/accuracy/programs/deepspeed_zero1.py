"""DeepSpeed, ZeRO stage 1, which evaluates and saves every 20 steps. torchrun --nproc-per-node 2 deepspeed_zero1.py [STEPS]"""
import sys

import deepspeed
import torch
import torch.nn as nn

from shared_folder import shared_folder


def evaluate(engine, batches):
    engine.eval()
    with torch.no_grad():
        loss = sum(nn.functional.cross_entropy(engine(x), y) for x, y in batches) / len(batches)
    engine.train()
    torch.distributed.all_reduce(loss)
    return loss.item() / torch.distributed.get_world_size()


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
    held_out = [(torch.randn(64, 1024), torch.randint(10, (64,))) for _ in range(20)]
    with shared_folder() as folder:
        for step in range(steps):
            x, y = torch.randn(64, 1024), torch.randint(10, (64,))
            loss = nn.functional.cross_entropy(engine(x), y)
            engine.backward(loss)
            engine.step()
            if step % 20 == 0 and torch.distributed.get_rank() == 0:
                print(f"step {step} loss {loss.item():.3f}", flush=True)
            if step % 20 == 19:
                loss = evaluate(engine, held_out)
                if torch.distributed.get_rank() == 0:
                    print(f"step {step} loss on held-out data {loss:.3f}", flush=True)
                engine.save_checkpoint(folder)


main()
