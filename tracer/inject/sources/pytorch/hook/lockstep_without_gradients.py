"""Evaluation loops that neither call eval() nor have a wrapper of PyTorch's: `with torch.no_grad():` and
`torch.inference_mode()` around forward passes of a program that trains, or `torch.set_grad_enabled(False)` before them.

A block says nothing by itself: teachers, reference models, rollouts and metrics compute without gradients as well. What
is told is a range "evaluation" of the blocks at one place of the program between an optimizer's step and the next
backward pass, in which a module was called, if
- the same place did not run before the program's first backward pass: what training needs (a teacher's output, a
  rollout) is there before it trains on it, for the first time, too. A pass from elsewhere, out of what was over when
  training began (the model is tried out once before), is none of these;
- it did not run in the 8 steps before nor in the 8 after: what does belongs to the steps;
- no forward pass with gradients had begun since the optimizer's step: else it is in the middle of a training step;
- it took longer than a step; where the place has done so once, longer than half a step.
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
_MOST_PATHS = 1000  # that are looked at before training, of one place
_MOST_SHORT = 1000  # that are kept of one place
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


# Calls cost: what most blocks need is written out where they begin.
def _opens(block):
    global _open, _began, _trained, _called, _node_at_begin
    _open, _trained, _called = block, core.trains, False
    _hooks[_KEY] = _hook
    _node_at_begin = _node_number()
    _began = _now()


def _is_left(frame):
    """By the program's `frame`."""
    global _open, _last_end
    _open = None
    if not _called:
        _hooks.pop(_KEY, None)
    else:
        _last_end = _now()
        if _trained == core.trains:
            _note(frame, _began)


def _replace(block, methods):
    _originals.append((block, {method.__name__: (getattr(block, method.__name__), method) for method in methods}))
    for method in methods:
        setattr(block, method.__name__, method)


def _wrap(block):
    enter, leave = block.__enter__, block.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        # Between a backward pass and the end of its optimizer (clipping, the update itself) nobody evaluates. A block
        # that was left open, as the program enters it by hand, is over when something trains.
        if not core.gradients_pending and (_open is None or _trained != core.trains) and _get_ident() == _main:
            _opens(self)
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):
        if _open is self:
            _is_left(sys._getframe(1))
        return leave(self, exc_type, exc_value, traceback)

    _replace(block, (__enter__, __exit__))


def _wrap_switch(switch):
    """set_grad_enabled: what it is called with holds at once, until another call, or until the end of a block."""
    init, leave, decorate = switch.__init__, switch.__exit__, switch.__call__

    @functools.wraps(init)
    def __init__(self, mode):
        init(self, mode)
        if mode:
            if _open is not None and type(_open) is switch and _get_ident() == _main:
                _is_left(sys._getframe(1))
        # no_grad calls it as well, and is open already.
        elif (getattr(self, "prev", False) and (_open is None or _trained != core.trains) and
              not core.gradients_pending and _get_ident() == _main):
            _opens(self)

    @functools.wraps(leave)
    def __exit__(self, exc_type, exc_value, traceback):
        if _open is self:
            _is_left(sys._getframe(1))
        return leave(self, exc_type, exc_value, traceback)

    @functools.wraps(decorate)
    def __call__(self, function):
        if _open is self:  # it held for a moment, while the function was defined
            _close()
        return decorate(self, function)

    _replace(switch, (__init__, __exit__, __call__))


def _close():
    global _open
    _open = None
    if _hooks is not None:
        _hooks.pop(_KEY, None)


def last_end():
    return _last_end


def give_up():
    """Something is compiled: Dynamo is to find PyTorch's own."""
    for block, methods in _originals:
        if all(getattr(block, name) is ours for name, (_, ours) in methods.items()):
            for name, (original, _) in methods.items():
                setattr(block, name, original)
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
_before_training = {}  # by place: the paths to what ran before the first backward pass
_of_training = set()  # places
_of_evaluation = set()  # places that took longer than a step once
_short = {}  # by place: what took more than half a step, and is evaluation if the place is
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
    for kept in (_before_training, _fresh, _candidates, _short):
        kept.pop(place, None)


def _path_to(frame):
    """The calls that lead there, the outermost first."""
    path = []
    while frame is not None:
        path.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    path.reverse()
    return tuple(path)


def _note_before_training(place, frame):
    paths = _before_training.setdefault(place, collections.Counter())
    paths[_path_to(frame)] += 1
    _seen[place] = 0
    if sum(paths.values()) >= _MOST_PATHS:  # inference, mostly
        _is_of_training(place)


@core.quiet
def _training_begins():
    """Of the paths remains what leaves the first backward pass's: the same calls again are the same part of training,
    whoever called the function that trains."""
    training = _path_to(sys._getframe(1))
    for place, paths in _before_training.items():
        _before_training[place] = {path[_length_shared(path, training):] for path in paths}


def _length_shared(one, other):
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _ran_before_training(place, frame):
    ends = _before_training.get(place)
    if ends is None:
        return False
    path = _path_to(frame)
    return any(path[len(path) - len(end):] == end for end in ends)


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
    if core.trains == 0:
        return _note_before_training(place, frame)
    group = _fresh.get(place)
    if ((group is not None and group.trained != core.trains) or nodes_before > _MOST_NODES or
            _ran_before_training(place, frame)):
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
        _judge(place, _candidates.pop(place))


def _judge(place, group):
    if len(_lengths) < _FEWEST_STEPS:
        return
    step, lasted = sorted(_lengths)[len(_lengths) // 2], group.end - group.begin
    if lasted > step:
        _of_evaluation.add(place)
        for short in _short.pop(place, ()):
            _tell(short)
    elif 2 * lasted <= step:
        return
    if place in _of_evaluation:
        _tell(group)
    else:
        _short.setdefault(place, collections.deque(maxlen=_MOST_SHORT)).append(group)


def _tell(group):
    core.tell_past_range("evaluation", group.begin, group.end)


@core.quiet
def end():
    """Nothing more trains."""
    _end_step()
    for place, group in _candidates.items():
        _judge(place, group)
    _candidates.clear()


def _forked():
    _close()
    for kept in (_fresh, _candidates, _short):
        kept.clear()


def follow():
    # Without the interpreter's lock other threads may look at the hooks while they change.
    if _hooks is None or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    os.register_at_fork(after_in_child=_forked)
    core.when_training.append(_training_begins)
    core.when_optimized.append(_optimizer_is_over)
    for name in ("no_grad", "inference_mode"):
        block = getattr(_torch, name, None)
        if block is not None:
            _wrap(block)
    switch = getattr(_torch, "set_grad_enabled", None)
    if switch is not None:
        _wrap_switch(switch)
