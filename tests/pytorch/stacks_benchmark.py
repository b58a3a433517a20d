"""What one look at the Python stack (`lockstep record --stacks N`) costs the thread that is looked at.

    python stacks_benchmark.py LIBLOCKSTEP_INJECT

The main thread computes with PyTorch, in many short operators, while another thread looks at its stack 200 times a
second in every second round and sleeps in the others. The cost is the difference of the main thread's fast half,
and the processor time that the looking thread takes. One process, no process group.
"""
import importlib.util
import os
import statistics
import sys
import threading
import time
import types

import torch

LOOKS = 200  # a second
ROUNDS = 40


HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tracer/inject/sources/pytorch/hook")
told = 0


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HOOK, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tell(name, begin, end):
    global told
    told += 1


def stacks_module(library):
    core = types.ModuleType("_lockstep_pytorch")
    core.following = lambda: library
    core._tell_problem = print
    core.part = lambda name: types.SimpleNamespace(ours=[], tell=lambda: None)
    sys.modules["_lockstep_pytorch"] = core
    return load("lockstep_stacks")


def work(one):
    begin = time.perf_counter_ns()
    for _ in range(300_000):
        one.add_(1)
    return time.perf_counter_ns() - begin


def main():
    torch.set_num_threads(1)
    os.environ["LOCKSTEP_INJECTION"] = sys.argv[1]
    library = load("lockstep_library").load()
    library.lockstep_pytorch_is_recording = lambda: 1
    library.lockstep_pytorch_python_place = tell
    stacks = stacks_module(library)
    main_thread = library.lockstep_pytorch_own_thread_state()
    one = torch.ones(1)
    work(one)
    with_looks, without, spent = [], [], []
    for _ in range(ROUNDS):
        without.append(work(one))
        stop = threading.Lock()
        stop.acquire()
        ended = threading.Lock()
        ended.acquire()

        def look():
            begin = time.thread_time_ns()
            stacks._look(library, main_thread, 1 / LOOKS, stop, ended)
            spent.append(time.thread_time_ns() - begin)

        thread = threading.Thread(target=look)
        thread.start()
        with_looks.append(work(one))
        stop.release()
        thread.join()
    with_looks, without = (statistics.quantiles(times, n=4)[0] for times in (with_looks, without))
    looks = LOOKS * with_looks * 1e-9
    print(f"a look: {(with_looks - without) / looks / 1000:.1f} us of the main thread, "
          f"{sum(spent) / max(1, told) / 1000:.1f} us of processor time")
    print(f"20 a second: {2000 * (with_looks - without) / looks * 1e-9:.3f} % of the main thread")


main()
