"""Which threads of the process run Python. One that does not train is of no pool that computes, though it has the name
of one: an exporter, a prefetcher. Loaded once the library follows the process, by lockstep_pytorch.py, whose rules
hold here too.
"""
import ctypes
import threading
import time

import _lockstep_pytorch as core

_PERIOD = 0.2  # s: listing a hundred threads takes 35 µs

ours = []  # by the kernel's numbers: those that are not of `threading`
_told, _told_at = None, 0


def followed():
    """The library follows this process from now on, which may be a forked one."""
    global _told, _told_at
    _told, _told_at = None, 0
    ours.clear()
    tell()


@core.quiet
def tell():
    """To be called again and again."""
    global _told, _told_at
    library, now = core.following(), time.monotonic()
    if library is None or now - _told_at < _PERIOD:
        return
    _told_at = now
    threads = {thread.native_id for thread in threading.enumerate()}
    threads.update(ours)
    threads.discard(None)  # about to start
    if threads != _told:
        library.lockstep_pytorch_python_threads((ctypes.c_uint32 * len(threads))(*threads), len(threads))
        _told = threads
