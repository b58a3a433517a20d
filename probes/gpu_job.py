"""What users' own jobs do on a GPU, for scripts/gpu_check: `gpu_job.py WHAT`, nothing of Lockstep in it.

  ready           whether this Python's torch can compute on a GPU
  ddp             five steps of DistributedDataParallel on NCCL, under torchrun; ranks may share one GPU
  profiler FILE   the same kernels three times, the second time under torch.profiler, which writes FILE
  launches [profiled]
                  10,000 kernels of some 5 us, launched as fast as it goes, alone or under torch.profiler; prints the ns
                  per launch

Exit code 77: not on this machine; the reason stands on stderr.
"""
import os
import sys
import time

NO_GPU = 77
KERNELS = 200
LAUNCHES = 10_000


def no_gpu(reason):
    print(reason, file=sys.stderr)
    sys.exit(NO_GPU)


def torch_on_a_gpu():
    try:
        import torch
    except ImportError as problem:
        no_gpu(f"{sys.executable}: {problem}")
    if not torch.cuda.is_available():
        no_gpu(f"torch {torch.__version__} sees no GPU")
    return torch


def ddp():
    rank = int(os.environ["RANK"])
    torch = torch_on_a_gpu()
    devices = torch.cuda.device_count()
    if devices < int(os.environ["LOCAL_WORLD_SIZE"]):
        # NCCL knows a GPU by host and bus, and refuses two ranks on one: each rank becomes a host.
        os.environ.setdefault("NCCL_HOSTID", f"gpu-check-{rank}")
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % devices)
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl")
    torch.manual_seed(1)
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(1024, 1024), torch.nn.ReLU())]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).to(device), bucket_cap_mb=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(5):
        loss = model(torch.randn(256, 1024, device=device)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    torch.distributed.destroy_process_group()


def profiler(file):
    torch = torch_on_a_gpu()
    left, right = torch.randn(2, 4 << 20, device="cuda")
    out = torch.empty_like(left)

    def work():
        for _ in range(KERNELS):
            torch.add(left, right, out=out)
        torch.cuda.synchronize()

    work()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
    profile.export_chrome_trace(file)
    work()


def launches(profiled):
    torch = torch_on_a_gpu()
    left, right = torch.randn(2, 2 << 20, device="cuda")
    out = torch.empty_like(left)

    def work(count):
        for _ in range(count):
            torch.add(left, right, out=out)
        torch.cuda.synchronize()

    work(100)
    if profiled:
        profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        profile.start()
        work(100)
    begin = time.perf_counter_ns()
    work(LAUNCHES)
    end = time.perf_counter_ns()
    if profiled:
        profile.stop()
    print((end - begin) // LAUNCHES)


def main(arguments):
    what = arguments[0] if arguments else ""
    if what == "ready":
        torch_on_a_gpu()
    elif what == "ddp":
        ddp()
    elif what == "profiler" and len(arguments) == 2:
        profiler(arguments[1])
    elif what == "launches":
        launches("profiled" in arguments[1:])
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
