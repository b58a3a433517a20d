"""What Lockstep follows in a process that has imported torch: process groups, phases, garbage collection.

Everything here stands beside PyTorch, never in its way: each function that is replaced calls the original with
the arguments it got and returns what that returns; whatever fails here is noted for the report and leaves the
program as it was. The work is done by liblockstep-inject.so; nothing of it is loaded before the program makes a
process group, loads data, or trains.
"""
import ctypes
import functools
import os
import sys

DATA, FORWARD, BACKWARD, OPTIMIZER = 1, 2, 3, 4

_library = None
_following = False  # the library follows this process, and not one that it was forked from
_refused = False
_device_told = False  # for good
_device = None  # what was told before that: whether it is none of the CPU
_problems = []  # that came up before the library followed the process
_past_ranges = []  # the same
_tell_threads = None  # which run Python
_MOST_PAST_RANGES = 1000
when_followed = []  # what to do each time that the library begins to follow a process; nothing of it raises


def quiet(function):
    """Makes a function of ours harmless: what it raises is dropped."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception:
            if os.environ.get("LOCKSTEP_DEBUG"):
                raise
            return None

    return wrapped


def _follow(rank=-1, world_size=-1):
    """The library, once it follows this process; None where nothing is to be recorded."""
    global _library, _following, _refused, _device_told, _device, _tell_threads
    if _following:
        return _library
    if _refused:
        return None
    try:
        if _library is None:
            _library = part("library").load()
        if _library.lockstep_pytorch_start(rank, world_size) != 0:
            raise RuntimeError("nothing is to be recorded")
    except Exception:
        _refused = True
        _library = None
        if os.environ.get("LOCKSTEP_DEBUG"):
            raise
        return None
    _following = True
    _device_told = False
    _device = None
    _tell_threads = part("threads").tell
    part("threads").followed()
    while _problems:
        _tell_problem(_problems.pop())
    for past in _past_ranges:
        _library.lockstep_pytorch_past_range(*past)
    _past_ranges.clear()
    for action in when_followed:
        action()
    _follow_interpreter()
    return _library


def following():
    """The library, where it follows this process."""
    return _library if _following else None


def tell_past_range(name, begin, end):
    """A range of this thread that is over; times of time.monotonic_ns()."""
    if _following:
        _library.lockstep_pytorch_past_range(name.encode(), begin, end)
    elif not _refused and len(_past_ranges) < _MOST_PAST_RANGES:
        _past_ranges.append((name.encode(), begin, end))


def _forked():
    global _following
    _following = False
    _past_ranges.clear()
    _as_a_whole.update((phase, 0) for phase in _as_a_whole)


def _tell_problem(problem):
    if _following:
        _library.lockstep_pytorch_problem(problem.encode("utf-8", "replace"))
    else:
        _problems.append(problem)


# --- process groups ---------------------------------------------------------------------------------------------

# A pybind11 object of a class with one base: the interpreter's header, then the address of the C++ object.
_OBJECT_HEADER = object.__basicsize__


def _address_of(instance):
    return ctypes.c_void_p.from_address(id(instance) + _OBJECT_HEADER).value


@quiet
def _tell_group(group, ranks, description, known=False):
    library = _follow()
    if library is None:
        return
    array = (ctypes.c_int32 * len(ranks))(*ranks)
    told = set()
    for device in group._device_types:
        try:
            backend = group._get_backend(device)
        except RuntimeError:
            continue  # made on first use
        address = _address_of(backend)
        if address in told:
            continue
        told.add(address)
        library.lockstep_pytorch_group(address, backend.name().encode(), (getattr(group, "group_name", "") or "").encode(),
                                       description.encode(), array, len(ranks), known)


def _follow_process_groups():
    import torch.distributed as dist
    if not dist.is_available():
        return
    from torch.distributed import distributed_c10d as c10d
    original = c10d._new_process_group_helper

    @functools.wraps(original)
    def helper(group_size, group_rank, global_ranks_in_group, *args, **kwargs):
        made = original(group_size, group_rank, global_ranks_in_group, *args, **kwargs)
        _group_was_made(c10d, made, group_size, group_rank, global_ranks_in_group)
        return made

    c10d._new_process_group_helper = helper


def _description_of(group):
    description = getattr(group, "group_desc", "") or ""
    return "" if description == "undefined" else description


@quiet
def _group_was_made(c10d, made, group_size, group_rank, global_ranks):
    group = made[0] if isinstance(made, tuple) else made
    if group is None or group is c10d.GroupMember.NON_GROUP_MEMBER or not hasattr(group, "_get_backend"):
        return
    if group_size < 0:  # MPI knows rank and size itself
        group_rank, group_size = group.rank(), group.size()
    # The group of all ranks comes first, without a list of them.
    ranks = list(global_ranks) if global_ranks else list(range(group_size))
    if not global_ranks:
        _follow(group_rank, group_size)
    _tell_group(group, ranks, _description_of(group))


# --- phases -----------------------------------------------------------------------------------------------------


def tell_device(for_good=True):
    """Whether the model computes on the CPU: the first backward pass or optimizer shows it. Before that it may change: a
    model may be tried out before it moves to a GPU."""
    global _device_told, _device
    if not _following or _device_told:
        return
    torch = sys.modules["torch"]
    accelerated = torch.cuda.is_initialized()
    for other in ("xpu", "npu", "hpu"):
        module = getattr(torch, other, None)
        accelerated = accelerated or bool(getattr(module, "is_initialized", lambda: False)())
    _device_told = for_good
    if for_good or accelerated != _device:
        _device = accelerated
        _library.lockstep_pytorch_device(0 if accelerated else 1)


trains = 0  # how often a backward pass or an optimizer has begun
when_training = []  # what to do when the first one begins; nothing of it raises
gradients_pending = False  # from a backward pass on; who is in when_optimized says until when
when_optimized = []  # what to do when an optimizer, whose number is handed over, is over; nothing of it raises


def _begin(phase, identity=0):
    global trains, gradients_pending
    if phase >= BACKWARD:
        trains, gradients_pending = trains + 1, True
        while when_training:
            when_training.pop()()
    try:
        library = _library if _following else _follow()
        if library is None:
            return
        if not _device_told and phase != DATA:
            tell_device()
        if phase == OPTIMIZER:
            _tell_threads()
        library.lockstep_pytorch_begin(phase, identity)
    except Exception:
        if os.environ.get("LOCKSTEP_DEBUG"):
            raise


def _end(phase, identity=0):
    if _following:
        _library.lockstep_pytorch_end(phase, identity)
    for action in when_optimized if phase == OPTIMIZER else ():
        action(identity)


# Phases that a framework's object has begun as a whole: what PyTorch shows of them meanwhile are parts of them.
_as_a_whole = {FORWARD: 0, BACKWARD: 0, OPTIMIZER: 0}


def name_phase(original, phase, identity_of=lambda args: 0, number_of=None):
    """Stands in for `original`, whose calls are a phase, whatever of it happens inside. `number_of(args, kwargs)`: the
    microbatch, from 0, or None."""
    # torch.compile follows the program through here, and finds the original alone.
    compiler = getattr(sys.modules["torch"], "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", lambda: False)

    @functools.wraps(original)
    def whole(*args, **kwargs):
        if is_compiling() or _as_a_whole[phase]:
            return original(*args, **kwargs)
        identity = 0
        try:
            number = number_of(args, kwargs) if number_of is not None else None
            identity = identity_of(args) if number is None else number + 1
        except Exception:
            if os.environ.get("LOCKSTEP_DEBUG"):
                raise
        _begin(phase, identity)
        _as_a_whole[phase] += 1
        try:
            return original(*args, **kwargs)
        finally:
            _as_a_whole[phase] = max(0, _as_a_whole[phase] - 1)  # 0 already: forked meanwhile
            _end(phase, identity)

    return whole


def _follow_backward():
    import torch
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(*args, **kwargs):
        if _as_a_whole[BACKWARD]:
            return original(*args, **kwargs)
        _begin(BACKWARD)
        try:
            return original(*args, **kwargs)
        finally:
            _end(BACKWARD)

    torch.autograd.backward = backward


# --- pipelines --------------------------------------------------------------------------------------------------


def _follow_pipelines():
    """Stages of torch.distributed.pipelining: whose group it is, and which microbatch is computed."""
    import torch.distributed as dist
    from torch.distributed.pipelining import stage
    base = stage._PipelineStageBase
    made = base.__init__

    @functools.wraps(made)
    def init(self, *args, **kwargs):
        made(self, *args, **kwargs)
        _stage_was_made(dist, self)

    base.__init__ = init
    for name, phase in (("forward_one_chunk", FORWARD), ("backward_one_chunk", BACKWARD),
                        ("backward_weight_one_chunk", BACKWARD)):
        if hasattr(base, name):
            setattr(base, name, _with_microbatch(getattr(base, name), phase))


@quiet
def _stage_was_made(dist, stage):
    tell_pipeline_group(stage.group if stage.group is not None else dist.group.WORLD)


def tell_pipeline_group(group):
    import torch.distributed as dist
    ranks, description = dist.get_process_group_ranks(group), _description_of(group)
    name = f"{description} (pipeline)" if description else f"pipeline of rank {ranks[0]}"
    _tell_group(group, ranks, name, known=True)


def _with_microbatch(original, phase):
    @functools.wraps(original)
    def one_chunk(self, *args, **kwargs):
        microbatch = args[0] if args else -1
        _begin(phase, microbatch + 1 if isinstance(microbatch, int) else 0)
        try:
            return original(self, *args, **kwargs)
        finally:
            _end(phase)

    return one_chunk


# --- parts in files of their own: most programs need few of them ------------------------------------------------


def part(name):
    from importlib.util import module_from_spec, spec_from_file_location
    module_name = "_lockstep_" + name
    if module_name not in sys.modules:
        spec = spec_from_file_location(module_name, os.path.join(os.path.dirname(__file__), f"lockstep_{name}.py"))
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[module_name] = module
    return sys.modules[module_name]


def _framework(follow_name):
    def follow():
        getattr(part("frameworks"), follow_name)()

    follow.__name__ = follow_name
    return follow


def _follow_optimizers():
    part("optimizers").follow_optimizers()


def _follow_modules():
    part("modules").follow_modules()


@quiet
def _follow_interpreter():
    interpreter = part("interpreter")
    interpreter.watch_garbage_collection()
    interpreter.offer_stacks()
    if os.environ.get("LOCKSTEP_STACKS", "20") != "0":
        try:
            part("stacks").follow_stacks()
        except Exception as problem:
            _tell_problem(f"stacks: {problem}")


def install(when_imported):
    os.register_at_fork(after_in_child=_forked)

    def follow_later(module, follow):
        def action():
            try:
                follow()
            except Exception as problem:
                _tell_problem(f"{follow.__name__}: {problem}")

        when_imported(module, action)

    follow_later("torch.distributed.pipelining.stage", _follow_pipelines)
    follow_later("deepspeed.runtime.engine", _framework("follow_deepspeed"))
    follow_later("deepspeed.runtime.pipe.engine", _framework("follow_deepspeed_pipeline"))
    follow_later("megatron.core.pipeline_parallel.schedules", _framework("follow_megatron"))
    def _follow_run_phases():
        part("run_phases").install(when_imported)

    wanted = [_follow_process_groups, _follow_backward, _follow_optimizers, _follow_run_phases]
    if os.environ.get("LOCKSTEP_OPERATORS") == "1":
        wanted.append(_follow_modules)
    for follow in wanted:
        try:
            follow()
        except Exception as problem:
            if os.environ.get("LOCKSTEP_DEBUG"):
                raise
            _tell_problem(f"{follow.__name__}: {problem}")
