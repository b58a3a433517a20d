"""Modules by their place in the model, "layers.7.mlp": what `lockstep record --operators` follows in Python.

Loaded by lockstep_pytorch.py right after torch was, whose rules hold here too. Not by PyTorch's hooks of modules:
those warn where a module is compiled, make calls of all modules slower, and stand in the way of torch.compile. What
replaces Module.__call__ here is there before Dynamo is loaded, which then takes it for PyTorch's own and sees the
module's forward; of a module that is compiled as a whole the call is seen, and what is in it is not.
"""
import functools
import sys
import weakref

import _lockstep_pytorch as core

# What wrappers call the module in them: no part of its place in the model.
_WRAPPERS = frozenset(("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module"))
_names = {}  # by id: the module (weakly), and its name


def _place_of(path):
    return ".".join(part for part in path.split(".") if part not in _WRAPPERS)


def _name_all(root):
    # A module that is not known is called from outside of those that are: what is in it is named by its place in it.
    for path, module in root.named_modules():
        name = _place_of(path) or type(module).__name__
        _names[id(module)] = (weakref.ref(module), name.encode("utf-8", "replace")[:250])


def _name_of(module):
    known = _names.get(id(module))
    if known is not None and known[0]() is module:
        return known[1]
    try:
        _name_all(module)
        return _names[id(module)][1]
    except Exception:  # a module that cannot be walked through
        return type(module).__name__.encode("utf-8", "replace")[:250]


def follow_modules():
    import torch
    if "torch._dynamo.utils" in sys.modules:
        raise RuntimeError("modules: torch._dynamo was loaded before")
    module_class = torch.nn.Module
    original = module_class.__call__
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
    following = core.following

    @functools.wraps(original)
    def call(self, *args, **kwargs):
        library = None if is_compiling() else following()
        if library is None:
            return original(self, *args, **kwargs)
        token = library.lockstep_pytorch_begin_module(_name_of(self))
        try:
            return original(self, *args, **kwargs)
        finally:
            library.lockstep_pytorch_end_module(token)

    module_class.__call__ = call
    _leave_to_dynamo(call)


@core.quiet
def _leave_to_dynamo(call):
    # Between two graphs Dynamo sees our frames: they are not to be compiled. What a call calls is.
    from torch._C._dynamo import eval_frame
    ours = (_name_of, _name_all, _place_of, core.following)
    if hasattr(eval_frame, "set_code_exec_strategy"):
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
        eval_frame.set_code_exec_strategy(call.__code__, _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.DEFAULT))
        alone = _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
        for function in ours:
            eval_frame.set_code_exec_strategy(function.__code__, alone)
    elif hasattr(eval_frame, "skip_code"):
        for function in (call, *ours):
            eval_frame.skip_code(function.__code__)
