"""Gradients of an embedding that are sparse, reduced by the program itself and by DDP; each rank has others."""
import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
embedding = torch.nn.Embedding(1000, 8, sparse=True)
embedding(torch.arange(3 + rank)).sum().backward()
dist.all_reduce(embedding.weight.grad)
dist.all_reduce(torch.ones(256))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Embedding(2000, 8, sparse=True))
for _ in range(3):
    model(torch.arange(5 + rank)).sum().backward()
dist.destroy_process_group()
print("done")
