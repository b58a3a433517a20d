"""A job whose rank 1 leaves out the last all-reduce; each rank then dumps its flight recorder.

flight_recorder_job.py FOLDER, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them. Exit code 4: this PyTorch
fills no flight recorder on Gloo.
"""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch._C._distributed_c10d as c10d

folder = sys.argv[1]
if not hasattr(c10d, "_dump_fr_trace"):
    sys.exit(4)
dist.init_process_group("gloo")
rank = dist.get_rank()
tensor = torch.ones(8)
for _ in range(5):
    dist.all_reduce(tensor)
group = dist.new_group([0, 1], group_desc="data parallel")
for _ in range(3):
    dist.all_reduce(tensor, group=group)
if rank != 1:
    dist.all_reduce(tensor, group=group, async_op=True)


def write(name, content):
    with open(os.path.join(folder, name + ".part"), "wb") as file:
        file.write(content)
    os.rename(os.path.join(folder, name + ".part"), os.path.join(folder, name))


write(f"json_rank_{rank}.json", c10d._dump_fr_trace_json(True, False))
write(f"nccl_trace_rank_{rank}", c10d._dump_fr_trace(True, True, False))
# A rank that ends would end the others' operation.
other = os.path.join(folder, f"nccl_trace_rank_{1 - rank}")
for _ in range(6000):
    if os.path.exists(other):
        break
    time.sleep(0.01)
os._exit(0)
