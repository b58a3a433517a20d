"""Plain DistributedDataParallel with a data loader, as the tutorials have it. torchrun --nproc-per-node 2 ddp.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from rank_device import rank_device


class RandomImages(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3 * 32 * 32, generator=generator), index % 10


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    device, backend = rank_device()
    dist.init_process_group(backend)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DistributedDataParallel(nn.Sequential(
        nn.Linear(3 * 32 * 32, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to(device), bucket_cap_mb=2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batch = 64
    images = RandomImages(batch * steps * dist.get_world_size())
    loader = DataLoader(images, batch_size=batch, sampler=DistributedSampler(images))
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
