"""What a training program does beside training: starting up, compiling, saving and loading checkpoints, evaluating.

One table says which functions of PyTorch and of the frameworks above it are which; a new one is one line. Each is
wrapped once its module has been imported, and told as a range when it is called, as the process may be killed in it,
and when it returns. The names of ranges mean what analyzer/model/phase_names.cpp says. Loaded by lockstep_pytorch.py,
whose rules hold here too.
"""
import atexit
import concurrent.futures
import functools
import os
import sys
import threading
import time
import weakref

import _lockstep_pytorch as core

_CHECKPOINT, _EVALUATION, _COMPILATION, _START_UP = "checkpoint: ", "evaluation: ", "compilation: ", "start-up: "

# torch.compile compiles nothing before what it returns is called, but imports the compiler, which takes seconds.
# Libraries decorate functions with it that nobody calls: before anything trains, that is part of starting up.
_IMPORTS_COMPILER = _COMPILATION + "torch.compile"
_IMPORTS_COMPILER_EARLY = _START_UP + "import of torch.compile's compiler"

# Module, function or method in it, what it is. The range's name ends with what people call it.
_TABLE = [
    ("torch.serialization", "save", _CHECKPOINT + "torch.save"),
    ("torch.serialization", "load", _CHECKPOINT + "torch.load"),
    ("torch.distributed.distributed_c10d", "init_process_group", _START_UP + "init_process_group"),
    ("torch.distributed.checkpoint.state_dict_saver", "save", _CHECKPOINT + "torch.distributed.checkpoint.save"),
    ("torch.distributed.checkpoint.state_dict_saver", "async_save", _CHECKPOINT + "torch.distributed.checkpoint.async_save"),
    ("torch.distributed.checkpoint.state_dict_loader", "load", _CHECKPOINT + "torch.distributed.checkpoint.load"),
    ("torch.distributed.checkpoint.state_dict_saver", "save_state_dict", _CHECKPOINT + "torch.distributed.checkpoint.save_state_dict"),
    ("torch.distributed.checkpoint.state_dict_loader", "load_state_dict", _CHECKPOINT + "torch.distributed.checkpoint.load_state_dict"),
    # Of async_save in a process of its own the thread that waits for that: its time is what runs beside.
    ("torch.distributed.checkpoint._async_process_executor", "_AsyncCheckpointProcess.save", _CHECKPOINT + "torch.distributed.checkpoint.async_save"),
    ("torch", "compile", _IMPORTS_COMPILER),
    ("torch._inductor.runtime.triton_heuristics", "CachingAutotuner.benchmark_all_configs", _COMPILATION + "autotuning"),
    ("triton.compiler.compiler", "compile", _COMPILATION + "triton.compile"),
    ("safetensors.torch", "save_file", _CHECKPOINT + "safetensors.torch.save_file"),
    ("safetensors.torch", "load_file", _CHECKPOINT + "safetensors.torch.load_file"),
    ("safetensors.torch", "save", _CHECKPOINT + "safetensors.torch.save"),
    ("safetensors.torch", "load", _CHECKPOINT + "safetensors.torch.load"),
    ("safetensors.torch", "save_model", _CHECKPOINT + "safetensors.torch.save_model"),
    ("safetensors.torch", "load_model", _CHECKPOINT + "safetensors.torch.load_model"),
    ("deepspeed.runtime.engine", "DeepSpeedEngine.save_checkpoint", _CHECKPOINT + "DeepSpeedEngine.save_checkpoint"),
    ("deepspeed.runtime.engine", "DeepSpeedEngine.load_checkpoint", _CHECKPOINT + "DeepSpeedEngine.load_checkpoint"),
    ("deepspeed.runtime.engine", "DeepSpeedEngine.save_16bit_model", _CHECKPOINT + "DeepSpeedEngine.save_16bit_model"),
    ("torch.distributed.pipelining.schedules", "_PipelineSchedule.eval", _EVALUATION + "the pipeline's schedule"),
    ("deepspeed.runtime.pipe.engine", "PipelineEngine.eval_batch", _EVALUATION + "PipelineEngine.eval_batch"),
    ("megatron.core.dist_checkpointing.serialization", "save", _CHECKPOINT + "megatron.core.dist_checkpointing.save"),
    ("megatron.core.dist_checkpointing.serialization", "load", _CHECKPOINT + "megatron.core.dist_checkpointing.load"),
    # What it waits for the writers of asynchronous checkpoints.
    ("megatron.core.dist_checkpointing.strategies.async_utils", "AsyncCallsQueue.maybe_finalize_async_calls", _CHECKPOINT + "megatron AsyncCallsQueue"),
    ("megatron.training.checkpointing", "save_checkpoint", _CHECKPOINT + "megatron save_checkpoint"),
    ("megatron.training.checkpointing", "load_checkpoint", _CHECKPOINT + "megatron load_checkpoint"),
    ("megatron.training.training", "evaluate", _EVALUATION + "megatron evaluate"),
    ("transformers.trainer", "Trainer._save_checkpoint", _CHECKPOINT + "Trainer._save_checkpoint"),
    ("transformers.trainer", "Trainer.save_model", _CHECKPOINT + "Trainer.save_model"),
    ("transformers.trainer", "Trainer._load_from_checkpoint", _CHECKPOINT + "Trainer._load_from_checkpoint"),
    ("transformers.trainer", "Trainer._load_best_model", _CHECKPOINT + "Trainer._load_best_model"),
    ("transformers.modeling_utils", "PreTrainedModel.save_pretrained", _CHECKPOINT + "PreTrainedModel.save_pretrained"),
    ("transformers.trainer", "Trainer.evaluate", _EVALUATION + "Trainer.evaluate"),
    ("transformers.trainer", "Trainer.predict", _EVALUATION + "Trainer.predict"),
    ("accelerate.accelerator", "Accelerator.save_state", _CHECKPOINT + "Accelerator.save_state"),
    ("accelerate.accelerator", "Accelerator.load_state", _CHECKPOINT + "Accelerator.load_state"),
    ("accelerate.accelerator", "Accelerator.save_model", _CHECKPOINT + "Accelerator.save_model"),
    ("torchtitan.components.checkpoint", "CheckpointManager.dcp_save", _CHECKPOINT + "CheckpointManager.dcp_save"),
    ("torchtitan.components.checkpoint", "CheckpointManager.dcp_load", _CHECKPOINT + "CheckpointManager.dcp_load"),
    ("torchtitan.components.validate", "Validator.validate", _EVALUATION + "Validator.validate"),
    ("lightning.fabric.fabric", "Fabric.save", _CHECKPOINT + "Fabric.save"),
    ("lightning.fabric.fabric", "Fabric.load", _CHECKPOINT + "Fabric.load"),
] + [
    entry
    for package in ("lightning.pytorch", "pytorch_lightning")
    for entry in (
        (package + ".trainer.trainer", "Trainer.save_checkpoint", _CHECKPOINT + "Trainer.save_checkpoint"),
        (package + ".loops.evaluation_loop", "_EvaluationLoop.run", _EVALUATION + "_EvaluationLoop.run"),
    )
]

# What takes less is no cost, and the report does not keep it.
_LEAST_NS = 1_000_000


@core.quiet
def _tell(name, begin, end=None):
    end = time.monotonic_ns() if end is None else end
    if end - begin >= _LEAST_NS:
        core.tell_past_range(name, begin, end)


class _UnderWay:
    """One that has begun."""

    def __init__(self, name):
        if name.startswith(_CHECKPOINT) and threading.current_thread() is not threading.main_thread():
            name += " (background)"
        self.name = name
        self.begin = time.monotonic_ns()
        self.thread = threading.get_ident()
        self.known = None  # whether the library has recorded that it began; None: it was not told

    def tell(self, library):
        self.known = bool(library.lockstep_pytorch_begin_long_range(self.name.encode(), self.begin))


_under_way = set()  # before the library follows the process


@core.quiet
def _begin(name):
    began = _UnderWay(name)
    library = core.following()
    if library is not None:
        began.tell(library)
    else:
        _under_way.add(began)
    return began


@core.quiet
def _end(began):
    if began is None:
        return
    _under_way.discard(began)
    if began.name.startswith(_EVALUATION):
        _without_gradients("forget_since", began.begin)
    library = core.following()
    if began.known is not None and library is not None:
        end = time.monotonic_ns()
        library.lockstep_pytorch_end_long_range(began.begin, end if end - began.begin >= _LEAST_NS else began.begin)
    if not began.known:
        _tell(began.name, began.begin)


@core.quiet
def _tell_under_way():
    """The library follows the process from now on. What other threads are in is told when it is over."""
    for began in sorted(_under_way, key=lambda began: began.begin):
        if began.thread == threading.get_ident():
            began.tell(core.following())
    _under_way.clear()


@core.quiet
def _follow_futures(saved):
    """Of async_save: who waits for what it returned waits for a checkpoint."""
    for future in (saved, getattr(saved, "staging_completion", None), getattr(saved, "upload_completion", None)):
        if isinstance(future, concurrent.futures.Future):
            future.result = _named(future.result, _CHECKPOINT + "waiting for torch.distributed.checkpoint.async_save")


def _named(original, name):
    # torch.compile follows the program through here, and finds the original alone.
    compiler = getattr(sys.modules["torch"], "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", lambda: False)

    @functools.wraps(original)
    def told(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        if name is _IMPORTS_COMPILER:
            _give_up()
        is_early = name is _IMPORTS_COMPILER and core.trains == 0
        began = _begin(_IMPORTS_COMPILER_EARLY if is_early else name)
        try:
            return original(*args, **kwargs)
        finally:
            _end(began)

    return told


def _with_futures(original):
    @functools.wraps(original)
    def async_save(*args, **kwargs):
        saved = original(*args, **kwargs)
        _follow_futures(saved)
        return saved

    return async_save


@core.quiet
def _wrap(module_name, path, name):
    owner = sys.modules[module_name]
    *classes, last = path.split(".")
    for part in classes:
        owner = getattr(owner, part, None)
    original = getattr(owner, "__dict__", {}).get(last)  # nothing inherited: each class is wrapped once
    if original is None:  # not in this version
        return
    wrapped = _named(original, name)
    if last == "async_save":
        wrapped = _with_futures(wrapped)
    setattr(owner, last, wrapped)
    # A package above it may have taken the name over already.
    for package in _packages_above(module_name) if not classes else ():
        if getattr(package, last, None) is original:
            setattr(package, last, wrapped)


def _packages_above(module_name):
    parts = module_name.split(".")
    names = [".".join(parts[:count]) for count in range(1, len(parts))]
    return [sys.modules[name] for name in names if name in sys.modules]


@core.quiet
def _forwards(what):
    getattr(core.part("forwards"), what)()


@core.quiet
def _without_gradients(what, *args):
    return getattr(core.part("without_gradients"), what)(*args)


def _give_up():
    """Something is compiled."""
    _forwards("give_up")
    _without_gradients("give_up")


def _training_begins():
    if "_lockstep_forwards" in sys.modules:
        _forwards("leave")


# --- torch.compile ----------------------------------------------------------------------------------------------


@core.quiet
def _follow_compiler():
    """Dynamo's own callbacks: compiling a frame, a backward pass that was put off, recording CUDA graphs."""
    handler = sys.modules["torch._dynamo.callback"].CompilationCallbackHandler
    start, end = handler.run_start_callbacks, handler.run_end_callbacks
    began = []

    @functools.wraps(start)
    def run_start_callbacks(*args, **kwargs):
        began.append(_begin(_COMPILATION + "torch.compile"))
        _give_up()
        return start(*args, **kwargs)

    @functools.wraps(end)
    def run_end_callbacks(*args, **kwargs):
        if began:
            _end(began.pop())
        return end(*args, **kwargs)

    handler.run_start_callbacks, handler.run_end_callbacks = run_start_callbacks, run_end_callbacks


# --- evaluation loops written by hand ---------------------------------------------------------------------------


class _Evaluating:
    """From model.eval() to model.train() of the same model, if nothing trained meanwhile: a part that stays in
    evaluation mode (a teacher, frozen normalization) is no evaluation."""

    def __init__(self):
        self.module = None  # weak
        self.since = 0
        self.trained = 0
        self.depth = 0  # train() calls itself for each submodule

    @core.quiet
    def eval(self, module):
        if not module.training or (self._is_pending() and self.module() is not None):
            return
        self.module, self.since, self.trained = weakref.ref(module), time.monotonic_ns(), core.trains

    @core.quiet
    def train(self, module):
        if self._is_pending() and self._is_part(module):
            self._tell()
            self.module = None

    # Of a job that has trained: evaluation to its end, or to that of its last block without gradients. What comes behind that
    # (it gathers results, or waits for other ranks) is none.
    @core.quiet
    def end(self):
        core.tell_device(for_good=False)
        if self._is_pending() and self.trained > 0:
            last = _without_gradients("last_end")
            self._tell(last if last > self.since else None)
        self.module = None
        _without_gradients("end")

    def _tell(self, end=None):
        _tell("evaluation", self.since, end)
        _without_gradients("forget_since", self.since)

    def _is_pending(self):
        return self.module is not None and self.trained == core.trains

    def _is_part(self, module):
        pending = self.module()
        if pending is None:
            return False
        inner = (getattr(module, "module", None), getattr(module, "_orig_mod", None))
        return pending is module or pending in inner or any(part is module for part in pending.modules())


@core.quiet
def _follow_evaluation():
    torch = sys.modules["torch"]
    evaluating = _Evaluating()
    original = torch.nn.Module.train
    compiler = getattr(torch, "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", lambda: False)

    @functools.wraps(original)
    def train(self, mode=True):
        if is_compiling() or evaluating.depth or threading.current_thread() is not threading.main_thread():
            return original(self, mode)
        evaluating.train(self) if mode else evaluating.eval(self)
        _forwards("leave" if mode else "follow")
        evaluating.depth = 1
        try:
            return original(self, mode)
        finally:
            evaluating.depth = 0

    torch.nn.Module.train = train
    atexit.register(evaluating.end)
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not hasattr(c10d, "destroy_process_group"):
        return
    destroy = c10d.destroy_process_group

    @functools.wraps(destroy)
    def destroy_process_group(*args, **kwargs):
        evaluating.end()
        return destroy(*args, **kwargs)

    c10d.destroy_process_group = destroy_process_group
    for package in _packages_above(c10d.__name__):
        if getattr(package, "destroy_process_group", None) is destroy:
            package.destroy_process_group = destroy_process_group


# --- start-up ---------------------------------------------------------------------------------------------------


@core.quiet
def _tell_imports():
    """From the process's start to the end of the import of torch."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    started = int(fields[19]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")  # since boot
    behind = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    _tell(_START_UP + "imports", max(0, started - behind))


def install(when_imported):
    _tell_imports()
    when_imported("torch._dynamo.utils", lambda: _forwards("hide_from_dynamo"))
    core.when_training.append(_training_begins)
    core.when_followed.append(_tell_under_way)
    os.register_at_fork(after_in_child=_under_way.clear)
    for module, path, name in _TABLE:
        if module in sys.modules:
            _wrap(module, path, name)
        else:
            when_imported(module, functools.partial(_wrap, module, path, name))
    if "torch._dynamo.callback" in sys.modules:
        _follow_compiler()
    else:
        when_imported("torch._dynamo.callback", _follow_compiler)
    _follow_evaluation()
    _without_gradients("follow")
