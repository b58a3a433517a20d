"""The device of this rank, and the backend for it: a GPU and NCCL where PyTorch sees one, else the CPU and Gloo."""
import os

import torch


def rank_device():
    if not torch.cuda.is_available():
        return torch.device("cpu"), "gloo"
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return device, "nccl"
