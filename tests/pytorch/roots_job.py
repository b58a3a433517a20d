"""Operations that one rank leads, torchrun --nproc-per-node 3 roots_job.py: of all ranks, and of ranks 1 and 2 alone."""
import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
two = dist.new_group([1, 2])
for root in range(3):
    dist.reduce(torch.ones(1024), dst=root)
    dist.reduce(torch.ones(1024), dst=root, op=dist.ReduceOp.MAX)
    dist.broadcast(torch.ones(512), src=root)
if rank > 0:
    dist.reduce(torch.ones(2048), dst=2, group=two)
dist.destroy_process_group()
print("done")
