"""DeepSpeed's PipelineModule, two stages, four microbatches. torchrun --nproc-per-node 2 deepspeed_pipeline.py [STEPS]"""
import sys

import deepspeed
import torch
import torch.nn as nn
from deepspeed.pipe import PipelineModule


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    deepspeed.init_distributed(dist_backend="nccl" if torch.cuda.is_available() else "gloo")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    width, batch = 512, 32
    layers = [nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)) for _ in range(6)]
    model = PipelineModule(layers, num_stages=2, loss_fn=nn.functional.mse_loss, partition_method="uniform")
    data = torch.utils.data.TensorDataset(torch.randn(steps * 4 * batch, width), torch.randn(steps * 4 * batch, width))
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), training_data=data, config={
        "train_micro_batch_size_per_gpu": batch,
        "gradient_accumulation_steps": 4,
        "optimizer": {"type": "SGD", "params": {"lr": 0.01}},
        "steps_per_print": 20,
    })
    for step in range(steps):
        loss = engine.train_batch()
        if step % 20 == 0 and torch.distributed.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


main()
