"""What is followed of the interpreter itself: the garbage collector's long pauses, and its stacks, for a hang.

Loaded once the library follows the process, by lockstep_pytorch.py, whose rules hold here too.
"""
import atexit
import gc
import os

import _lockstep_pytorch as core

_OLDEST_GENERATION = 2


@core.quiet
def _garbage_collected(phase, info):
    # The young generations take microseconds and come all the time; the oldest stops the world.
    library = core.following()
    if info["generation"] != _OLDEST_GENERATION or library is None:
        return
    if phase == "start":
        library.lockstep_pytorch_begin_range(b"garbage collection")
    else:
        library.lockstep_pytorch_end_range()


def watch_garbage_collection():
    if _garbage_collected not in gc.callbacks:
        gc.callbacks.append(_garbage_collected)


@core.quiet
def offer_stacks():
    """For --hang-timeout: what faulthandler does at a signal, which nobody sends, the library can have done."""
    import faulthandler
    library = core.following()
    signal = library.lockstep_pytorch_unused_signal()
    if signal == 0 or not hasattr(os, "memfd_create"):
        return
    file = os.memfd_create("lockstep-stacks")
    faulthandler.register(signal, file=file, all_threads=True)
    library.lockstep_pytorch_stacks(signal, file)
    atexit.register(library.lockstep_pytorch_stacks, 0, -1)
