"""Steps of PyTorch's optimizers, and the number that each optimizer is known by.

Loaded by lockstep_pytorch.py right after torch was, whose rules hold here too.
"""
import weakref

import _lockstep_pytorch as core

# Of each optimizer that stepped and is still there, by its id: a weak reference, and the number that it is known by.
# A new one takes the number of one that is gone: a program that makes one for each fold, round or task goes on with its
# steps, where the count of steps would wait for the old one at first.
_optimizers = {}
_free_numbers = []


def _number_of(optimizer):
    identity = id(optimizer)
    known = _optimizers.get(identity)
    if known is not None:
        return known[1]

    def gone(_):
        left = _optimizers.pop(identity, None)
        if left is not None:
            _free_numbers.append(left[1])

    try:
        reference = weakref.ref(optimizer, gone)
    except TypeError:
        return identity  # no weak reference to it: an address, and no small number
    number = _free_numbers.pop() if _free_numbers else len(_optimizers) + 1
    _optimizers[identity] = (reference, number)
    return number


def follow_optimizers():
    from torch.optim.optimizer import (register_optimizer_step_post_hook,
                                       register_optimizer_step_pre_hook)

    def before(optimizer, args, kwargs):
        if not core._as_a_whole[core.OPTIMIZER]:
            core._begin(core.OPTIMIZER, _number_of(optimizer))

    def after(optimizer, args, kwargs):
        if not core._as_a_whole[core.OPTIMIZER]:
            core._end(core.OPTIMIZER, _number_of(optimizer))

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)
