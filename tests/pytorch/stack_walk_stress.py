"""Reads the main thread's stack from two others as fast as they can, while it calls, yields, throws, collects garbage and
ends threads, and says how the looks went:

    python stack_walk_stress.py LIBLOCKSTEP_INJECT SECONDS

Needs no PyTorch. Every stack must be one that the main thread can be in: its outermost frame is the module's, and each
frame's line is one of its function's. Ends with 1 where one is not, or where the garbage collection is off afterwards.
"""
import contextlib
import ctypes
import gc
import importlib.util
import os
import sys
import threading
import time
import types

HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tracer/inject/sources/pytorch/hook")


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HOOK, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


os.environ["LOCKSTEP_INJECTION"] = sys.argv[1]
torch = types.ModuleType("torch")
torch.__file__ = "/nowhere/torch/__init__.py"
sys.modules["torch"] = torch
sys.modules["_lockstep_pytorch"] = types.ModuleType("_lockstep_pytorch")
library = load("lockstep_library").load()
stacks = load("lockstep_stacks")
main_state = library.lockstep_pytorch_own_thread_state()
problems, counts = [], []
stop = threading.Event()


class Places:
    """In place of the names: checks the stack."""

    def of(self, stack):
        if stack[-1][0].co_name != "<module>":
            problems.append("a stack that ends in " + stack[-1][0].co_name)
        for code, line in stack:
            # A module that has only begun is in line 0.
            if not (code.co_firstlineno <= line < code.co_firstlineno + 1000 or line == 0 and code.co_name == "<module>"):
                problems.append(f"line {line} in {code.co_name}")
        return b"place"


def look():
    stack = stacks._Stack(library, main_state)
    stack._places = Places()
    count = 0
    while not stop.is_set():
        if stack.place() is not None:
            count += 1
    counts.append(count)


class Cycle:
    def __init__(self):
        self.itself = self



def count_down(depth):
    if depth:
        yield from count_down(depth - 1)
    else:
        yield from range(5)


@contextlib.contextmanager
def managed():
    yield Cycle()


def recurse(depth):
    return recurse(depth - 1) + sum(count_down(depth % 7)) if depth else 0


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        recurse(30)
        with managed(), managed():
            recurse(5)
        try:
            next(count_down(3)).missing
        except AttributeError as error:
            caught = error
        del caught
        threading.Thread(target=recurse, args=(3,)).start()
        exec(compile("recurse(2)", "made", "exec"), {"recurse": recurse})


sys.setswitchinterval(1e-6)
lookers = [threading.Thread(target=look) for _ in range(2)]
for thread in lookers:
    thread.start()
work(float(sys.argv[2]))
stop.set()
for thread in lookers:
    thread.join()
print(f"{sum(counts)} looks, {len(problems)} wrong, gc {gc.isenabled()}")
for problem in sorted(set(problems))[:10]:
    print(problem)
sys.exit(0 if sum(counts) > 100 and not problems and gc.isenabled() else 1)
