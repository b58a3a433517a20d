"""All-reduces whose tensors nobody but Gloo's thread holds, and the end right behind the last. torchrun --nproc-per-node 2 gloo_at_exit.py

The quickest way to what PyTorch's Gloo does to Hugging Face's Trainer now and then (docs/pytorch.md): where the
interpreter goes down before that thread has let go of the last tensor, the process aborts.
"""
import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
for _ in range(20):
    dist.all_reduce(torch.ones(100_000))
