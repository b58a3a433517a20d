"""Training jobs as people write them, without a word of Lockstep: jobs.py MODE OUTPUT [profile].

MODE: ddp (gradient accumulation, DataLoader with workers), fsdp2, fsdp1, tensor_parallel (DTensor), pipeline, gpipe,
gpipe_that_evaluates,
interleaved (two virtual stages a rank), zero_bubble (as interleaved, with gradients of weights of their own), killed (a rank dies), restarted (by torchrun --max-restarts 1).
Prints the losses; leaves OUTPUT.RANK.json: what the job itself counted, by PyTorch's flight recorder and by
wrappers of the functions that it calls. Before torch 2.11 Gloo does not fill the flight recorder: there "profile"
counts with torch.profiler, and without that word the entries are null.
"""
import contextlib
import functools
import inspect
import json
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn

STEPS = 4
WIDTH = 64
LAYERS = 4
BATCH = 8


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Model(nn.Module):
    """An input layer that belongs to no block, and the blocks."""

    def __init__(self, width, layers):
        super().__init__()
        self.embed = nn.Linear(width, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return x


# What the job calls by these functions, in order. DDP's own collectives come from C++ and are not among them.
counted = []


def bytes_of(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def count_calls():
    def wrap(name, operation, size):
        original = getattr(dist, name)

        @functools.wraps(original)
        def wrapper(*args, **kwargs):
            counted.append([operation, size(*args, *kwargs.values())])
            return original(*args, **kwargs)

        setattr(dist, name, wrapper)

    wrap("all_gather_into_tensor", "all_gather", lambda out, *_: bytes_of(out))
    wrap("reduce_scatter_tensor", "reduce_scatter", lambda out, data, *_: bytes_of(data))
    wrap("all_reduce", "all_reduce", lambda data, *_: bytes_of(data))
    wrap("barrier", "barrier", lambda *_: 0)
    original = dist.batch_isend_irecv

    def batch(operations):
        for operation in operations:
            name = "send" if operation.op.__name__ == "isend" else "recv"
            counted.append([name, bytes_of(operation.tensor), operation.peer])
        return original(operations)

    from torch.distributed import distributed_c10d as c10d
    c10d.batch_isend_irecv = dist.batch_isend_irecv = batch
    # torch.distributed.pipelining sends the shapes of its tensors first, by these.
    for name, operation in (("send", "send"), ("recv", "recv")):
        wrap_message(name, operation)


def wrap_message(name, operation):
    from torch.distributed import distributed_c10d as c10d
    original = getattr(c10d, name)

    @functools.wraps(original)
    def wrapper(tensor, *args, **kwargs):
        peer = kwargs.get("dst" if name == "send" else "src", args[0] if args else None)
        if peer is None:
            group = kwargs.get("group")
            peer = dist.get_global_rank(group, kwargs["group_dst" if name == "send" else "group_src"])
        counted.append([operation, bytes_of(tensor), peer])
        return original(tensor, *args, **kwargs)

    setattr(c10d, name, wrapper)
    setattr(dist, name, wrapper)


def batches(rank, count):
    generator = torch.Generator().manual_seed(100 + rank)
    return [torch.randn(BATCH, WIDTH, generator=generator) for _ in range(count)]


def loss_value(loss):
    return loss.full_tensor().item() if hasattr(loss, "full_tensor") else loss.item()


def train(model, optimizer, data):
    losses = []
    for x in data:
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss_value(loss.detach()))
    return losses


def ddp(rank, size):
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
    model = nn.parallel.DistributedDataParallel(Model(WIDTH, LAYERS), bucket_cap_mb=0.1)
    optimizer = torch.optim.AdamW(model.parameters())
    dataset = TensorDataset(torch.randn(2 * STEPS * BATCH * size, WIDTH))
    loader = DataLoader(dataset, batch_size=BATCH, num_workers=2, sampler=DistributedSampler(dataset, shuffle=False))
    losses = []
    for number, (x,) in enumerate(loader):
        last = number % 2 == 1  # of two microbatches
        with contextlib.nullcontext() if last else model.no_sync():
            loss = model(x).pow(2).mean() / 2
            loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def killed(rank, size):
    """Rank 1 dies in its fourth step, long enough after the third for that to be in the kernel's hands."""
    model = nn.parallel.DistributedDataParallel(Model(WIDTH, LAYERS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer, batches(rank, STEPS - 1))
    time.sleep(2)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return train(model, optimizer, batches(rank, 1))


def wait_until(done):
    """One minute at most."""
    end = time.monotonic() + 60
    while not done() and time.monotonic() < end:
        time.sleep(0.02)


def restarted(rank, size):
    """At the first attempt rank 0 leaves after two steps and rank 1 gives up then; the second goes through.

    One after the other, so that torchrun finds nobody to kill: what a killed process has done last may be lost.
    """
    model = nn.parallel.DistributedDataParallel(Model(WIDTH, LAYERS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = train(model, optimizer, batches(rank, 2))
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        # They meet by files. After a collective of Python's own tensors Gloo's thread has yet to let go of them, and
        # PyTorch 2.11 aborts if the interpreter goes down meanwhile: one such job in eight, recorded or not.
        done, other = (f"{sys.argv[2]}.{one}.done" for one in (rank, 1 - rank))
        os.symlink(f"/proc/{os.getpid()}", done)
        wait_until(lambda: os.path.lexists(other))
        if rank == 1:
            wait_until(lambda: not os.path.exists(other))  # its process
        sys.exit(7 * rank)
    return losses + train(model, optimizer, batches(rank, STEPS - 2))


def fsdp2(rank, size):
    if not hasattr(torch.cpu.Stream, "record_event"):  # it was made for GPUs first: torch 2.4 and 2.6
        sys.exit(f"fsdp2 does not run on CPUs in torch {torch.__version__}")
    from torch.distributed.fsdp import fully_shard
    model = Model(WIDTH, LAYERS)
    for layer in model.layers:
        fully_shard(layer)
    fully_shard(model)
    return train(model, torch.optim.AdamW(model.parameters()), batches(rank, STEPS))


def fsdp1(rank, size):
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    model = FullyShardedDataParallel(Model(WIDTH, LAYERS), auto_wrap_policy=ModuleWrapPolicy({Block}),
                                     device_id=torch.device("cpu"))
    return train(model, torch.optim.AdamW(model.parameters()), batches(rank, STEPS))


def tensor_parallel(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("tp",))
    model = Model(WIDTH, LAYERS)
    for layer in model.layers:
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return train(model, torch.optim.AdamW(model.parameters(), foreach=False), batches(0, STEPS))


def pipeline(rank, size):
    from torch.distributed.pipelining import Schedule1F1B, ScheduleGPipe, schedules
    # 1F1B of torch 2.4 and 2.6 waits for the last of several messages alone, and comes to no end on Gloo.
    waits_for_all = "pop()" not in inspect.getsource(schedules._batch_p2p)
    return run_single(Schedule1F1B if waits_for_all else ScheduleGPipe, rank, size)


def gpipe(rank, size):
    from torch.distributed.pipelining import ScheduleGPipe
    return run_single(ScheduleGPipe, rank, size)


def gpipe_that_evaluates(rank, size):
    from torch.distributed.pipelining import ScheduleGPipe
    return run_single(ScheduleGPipe, rank, size, evaluations=30)


def run_single(kind, rank, size, evaluations=0):
    from torch.distributed.pipelining import PipelineStage
    module = Model(WIDTH, LAYERS // size)
    # Torch 2.4 wants to be shown a microbatch.
    shown = [torch.zeros(BATCH // size, WIDTH)]
    needed = inspect.signature(PipelineStage).parameters["input_args"].default is inspect.Parameter.empty
    stage = PipelineStage(module, rank, size, torch.device("cpu"), *(shown if needed else []))
    return run_schedule(kind(stage, 2 * size, loss_fn=squared_error), [module], rank, size, evaluations)


def interleaved(rank, size):
    from torch.distributed.pipelining import ScheduleInterleaved1F1B
    return run_chunks(ScheduleInterleaved1F1B, rank, size)


def zero_bubble(rank, size):
    from torch.distributed.pipelining.schedules import ScheduleInterleavedZeroBubble
    return run_chunks(ScheduleInterleavedZeroBubble, rank, size)


def run_chunks(kind, rank, size):
    from torch.distributed.pipelining import PipelineStage, schedules
    if "pop()" in inspect.getsource(schedules._batch_p2p):  # as 1F1B
        sys.exit(f"{kind.__name__} does not run on CPUs in torch {torch.__version__}")
    modules = [Model(WIDTH, 1) for _ in range(2)]
    stages = [PipelineStage(module, rank + chunk * size, 2 * size, torch.device("cpu"))
              for chunk, module in enumerate(modules)]
    return run_schedule(kind(stages, 2 * size, loss_fn=squared_error), modules, rank, size)


def squared_error(y, target):
    return (y - target).pow(2).mean()


def run_schedule(schedule, modules, rank, size, evaluations=0):
    """The losses of each step; with `evaluations` of the schedule, one after the other, behind the second step."""
    optimizer = torch.optim.SGD([p for module in modules for p in module.parameters()], lr=0.01)
    losses = []
    generator = torch.Generator().manual_seed(3)
    for _ in range(STEPS):
        x = torch.randn(2 * BATCH, WIDTH, generator=generator)
        target = torch.randn(2 * BATCH, WIDTH, generator=generator)
        optimizer.zero_grad()
        of_microbatches = []
        if rank == 0:
            schedule.step(x)
        elif rank == size - 1:
            schedule.step(target=target, losses=of_microbatches)
        else:
            schedule.step()
        optimizer.step()
        losses.append(sum(loss.item() for loss in of_microbatches))
        for _ in range(evaluations if len(losses) == 2 else 0):
            with torch.no_grad():
                schedule.eval(*((x,) if rank == 0 else ()), **({"target": target, "losses": []} if rank == size - 1 else {}))
    return losses


def flight_recorder():
    """Its entries; None where this version has none of Gloo's."""
    dump = getattr(torch._C._distributed_c10d, "_dump_fr_trace_json", None)
    return json.loads(dump()).get("entries") if dump is not None else None


def profiled(profile):
    """What torch.profiler saw, as the flight recorder would have told it: it does not know the outputs, nor the group."""
    types = {"float": "Float", "double": "Double", "long int": "Long", "int": "Int", "unsigned char": "Byte",
             "signed char": "Char", "bool": "Bool", "c10::BFloat16": "BFloat16", "c10::Half": "Half"}
    events = [event for event in profile.profiler.kineto_results.events() if event.name().startswith("gloo:")]
    # In versions before 2.5, microseconds. It is the time of issue, whichever thread carries it out.
    events.sort(key=lambda event: event.start_ns() if hasattr(event, "start_ns") else event.start_us())
    return [{"is_p2p": event.name() in ("gloo:send", "gloo:recv"), "profiling_name": event.name(),
             "input_sizes": event.shapes(), "input_dtypes": [types[name] for name in event.dtypes()]}
            for event in events]


def main():
    mode, output = sys.argv[1], sys.argv[2]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    count_calls()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    profile = None
    if sys.argv[3:] == ["profile"] and flight_recorder() is None:
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True)
    with profile or contextlib.nullcontext():
        losses = globals()[mode](rank, dist.get_world_size())
        dist.barrier()
    # In one piece: the ranks share the terminal.
    os.write(1, f"{mode} {rank} {losses}\n".encode())
    with open(f"{output}.{rank}.json", "w") as file:
        json.dump({"flight_recorder": profiled(profile) if profile else flight_recorder(), "counted": counted}, file)
    dist.barrier()
    dist.destroy_process_group()


main()
