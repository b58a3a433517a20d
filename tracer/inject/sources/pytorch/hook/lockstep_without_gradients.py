"""Evaluation loops that neither call eval() nor have a wrapper of PyTorch's: `with torch.no_grad():` and
`torch.inference_mode()` around forward passes of a program that trains.

A block says nothing by itself: teachers, reference models, rollouts and metrics compute without gradients as well. What
is told is a range "evaluation" of the blocks at one place of the program between an optimizer's step and the next
backward pass, in which a module was called, if
- the same place did not run before the program's first backward pass: what training needs (a teacher's output, a
  rollout) is there before it trains on it, for the first time, too;
- it did not run in the 8 steps before nor in the 8 after: what does belongs to the steps;
- no forward pass with gradients had begun since the optimizer's step: else it is in the middle of a training step;
- it took longer than a step.
So a range is told 8 steps late, or when the program ends. Loaded by lockstep_run_phases.py, whose rules hold here too.
"""
import collections
import functools
import os
import sys
import threading
import time

import _lockstep_pytorch as core

_APART = 8  # steps
_FEWEST_STEPS = 3  # whose length is known, to compare with
_MOST_NODES = 2  # of autograd that are no forward pass: the sum of losses that a loop keeps
_MOST_STEPS_OF_ANOTHER = 9  # then the optimizer that the steps were counted by is gone
_HELPERS = frozenset(("contextlib", "torch.utils._contextlib"))

_main = threading.main_thread().ident
_get_ident = threading.get_ident
_now = time.monotonic_ns
_torch = sys.modules["torch"]
_autograd = getattr(getattr(_torch, "_C", None), "_autograd", None)
_node_number = getattr(_autograd, "_get_sequence_nr", lambda: 0)  # of the thread's next node; rises as they are made

# --- blocks -----------------------------------------------------------------------------------------------------

# Module.__call__ looks here at every call; ours is there from the begin of a block to its first call.
_hooks = getattr(sys.modules.get("torch.nn.modules.module"), "_global_forward_pre_hooks", None)
_KEY = "lockstep"

_open = None  # the outermost block, of the main thread
_began = _trained = _node_at_begin = 0
_called = False  # a module was
_last_end = 0  # of the last block in which one was
_originals = []


def _hook(module, args):
    global _called
    if _get_ident() == _main:
        _hooks.pop(_KEY, None)
        _called = True


def _wrap(block):
    enter, leave = block.__enter__, block.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        global _open, _began, _trained, _called, _node_at_begin
        # Between a backward pass and the end of its optimizer (clipping, the update itself) nobody evaluates. A block that
        # was left open, as the program enters it by hand, is over when something trains.
        if not core.gradients_pending and (_open is None or _trained != core.trains) and _get_ident() == _main:
            _open, _trained, _called = self, core.trains, False
            _hooks[_KEY] = _hook
            _node_at_begin = _node_number()
            _began = _now()
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):
        global _open, _last_end
        if _open is self:
            _open = None
            if not _called:
                _hooks.pop(_KEY, None)
            else:
                _last_end = _now()
                if _trained == core.trains:
                    _note(sys._getframe(1), _began)
        return leave(self, exc_type, exc_value, traceback)

    block.__enter__, block.__exit__ = __enter__, __exit__
    _originals.append((block, enter, leave, __enter__, __exit__))


def _close():
    global _open
    _open = None
    if _hooks is not None:
        _hooks.pop(_KEY, None)


def last_end():
    return _last_end


def give_up():
    """Something is compiled: Dynamo is to find PyTorch's own."""
    for block, enter, leave, our_enter, our_leave in _originals:
        if block.__enter__ is our_enter and block.__exit__ is our_leave:
            block.__enter__, block.__exit__ = enter, leave
    _close()


# --- what they were for -----------------------------------------------------------------------------------------


class _Group:
    """The blocks at one place since the optimizer's last step."""

    def __init__(self, begin):
        self.begin = self.end = begin
        self.trained = core.trains
        self.lasted = 0
        self.step = 0


_fresh = {}  # by place: what ran since the last step's end
_candidates = {}  # by place: what ran in the last steps, and may be evaluation
_of_training = set()  # places
_seen = {}  # by place: the last step in which it ran

_optimizer = None  # whose end is a step's
_other, _other_stepped = None, 0
_step, _step_began, _lengths = 0, None, collections.deque(maxlen=_APART)  # without the blocks
_first_node = 0  # since an optimizer was over, but for those that are made in blocks: a Function of autograd makes one


def _place_of(frame):
    """Files and lines of the block and of who called its function; None where PyTorch itself has the block."""
    places = []
    while frame is not None and len(places) < 2:
        module = frame.f_globals.get("__name__", "")
        if module not in _HELPERS:
            if not places and module.startswith("torch."):
                return None
            places.append((frame.f_code.co_filename, frame.f_lineno))
        elif frame.f_code.co_name == "decorate_context":
            function = frame.f_locals.get("func")
            if (getattr(function, "__module__", None) or "").startswith("torch."):
                return None
        frame = frame.f_back
    return tuple(places)


def _is_of_training(place):
    _of_training.add(place)
    _fresh.pop(place, None)
    _candidates.pop(place, None)


@core.quiet
def _note(frame, begin):
    global _first_node
    place = _place_of(frame)
    if place is None:
        return
    nodes_before = _node_at_begin - _first_node
    _first_node += _node_number() - _node_at_begin
    if place in _of_training:
        return
    group = _fresh.get(place)
    if (core.trains == 0 or (group is not None and group.trained != core.trains) or
            nodes_before > _MOST_NODES):
        return _is_of_training(place)
    if group is None:
        group = _fresh[place] = _Group(begin)
    group.end = _now()
    group.lasted += group.end - begin


def forget_since(begin):
    """What began then or later has been told by another name."""
    for place in [place for place, group in _fresh.items() if group.begin >= begin]:
        del _fresh[place]


@core.quiet
def _optimizer_is_over(identity):
    global _optimizer, _other, _other_stepped, _step, _step_began, _first_node
    if _get_ident() != _main:
        return
    core.gradients_pending = False
    _first_node = _node_number()
    if _optimizer not in (None, identity):
        _other = identity if _other_stepped == 0 else _other
        _other_stepped += identity == _other
        if _other_stepped < _MOST_STEPS_OF_ANOTHER:
            return
        _lengths.clear()
        _candidates.clear()
        _step_began = None
    _optimizer, _other_stepped = identity, 0
    _step += 1
    now = _now()
    if _step_began is not None:
        _lengths.append(now - _step_began - sum(group.lasted for group in _fresh.values()))
    _step_began = now
    _end_step()


def _end_step():
    for place, group in list(_fresh.items()):
        group.step = _step
        if _step - _seen.get(place, -_APART - 1) <= _APART:
            _is_of_training(place)
        else:
            _candidates[place] = group
        _seen[place] = _step
    _fresh.clear()
    for place in [place for place, group in _candidates.items() if group.step + _APART <= _step]:
        _tell(_candidates.pop(place))


def _tell(group):
    if len(_lengths) >= _FEWEST_STEPS and group.end - group.begin > sorted(_lengths)[len(_lengths) // 2]:
        core.tell_past_range("evaluation", group.begin, group.end)


@core.quiet
def end():
    """Nothing more trains."""
    _end_step()
    for group in _candidates.values():
        _tell(group)
    _candidates.clear()


def _forked():
    _close()
    _fresh.clear()
    _candidates.clear()


def follow():
    # Without the interpreter's lock other threads may look at the hooks while they change.
    if _hooks is None or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    os.register_at_fork(after_in_child=_forked)
    core.when_optimized.append(_optimizer_is_over)
    for name in ("no_grad", "inference_mode"):
        block = getattr(_torch, name, None)
        if block is not None:
            _wrap(block)
