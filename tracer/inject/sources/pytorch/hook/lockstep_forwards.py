"""Forward passes of programs that do not train: inference and evaluation of models that no wrapper of PyTorch names.

From the first eval() on, until something trains or compiles, the outermost calls of modules on the main thread without
gradients are ranges "forward of GPT". No program that trains is followed while it does: Module.__call__ is replaced
while that lasts, and is PyTorch's own again behind it. Loaded by lockstep_run_phases.py, whose rules hold here too.
"""
import functools
import sys
import threading

import _lockstep_pytorch as core

# Their forward passes are ranges of PyTorch's own.
_NAMED_BY_PYTORCH = frozenset(("DistributedDataParallel", "FullyShardedDataParallel"))

_torch = sys.modules["torch"]
_Module = _torch.nn.Module
_original = _Module.__call__
_main = threading.main_thread().ident
_get_ident = threading.get_ident
_gradients_are_on = _torch.is_grad_enabled

_followed = False
_placed = False  # as Module.__call__, or below what the program has put there since
_given_up = False
_inside = False  # the call of a module is followed: those in it are parts


@core.quiet
def _begin(module):
    library = core.following()
    if library is None:
        return None
    core.tell_device(for_good=False)
    if not _NAMED_BY_PYTORCH.isdisjoint(base.__name__ for base in type(module).__mro__):
        return None
    library.lockstep_pytorch_begin_range(b"forward of " + type(module).__name__.encode("utf-8", "replace")[:250])
    return library


def _make_call(original):
    @functools.wraps(original)
    def call(self, *args, **kwargs):
        global _inside
        if _inside or not _followed or _gradients_are_on() or _get_ident() != _main:
            return original(self, *args, **kwargs)
        _inside = True
        library = _begin(self)
        try:
            return original(self, *args, **kwargs)
        finally:
            _inside = False
            if library is not None:
                library.lockstep_pytorch_end_range()

    return call


_call = None


def follow():
    global _followed, _placed, _original, _call
    if _given_up or core.trains:
        return
    _followed = True
    if not _placed:
        _original = _Module.__call__
        _call = _make_call(_original)
        _Module.__call__ = _call
        _placed = True


def leave():
    global _followed, _placed
    _followed = False
    if _placed and _Module.__call__ is _call:
        _Module.__call__ = _original
        _placed = False


def give_up():
    """Something is compiled: Dynamo is to find PyTorch's own."""
    global _given_up
    _given_up = True
    leave()


@core.quiet
def hide_from_dynamo():
    """Dynamo remembers what Module.__call__ was when it was imported, to know it for PyTorch's own."""
    utils = sys.modules["torch._dynamo.utils"]
    if _call is not None and getattr(utils, "unpatched_nn_module_call", None) is _call:
        utils.unpatched_nn_module_call = _original
