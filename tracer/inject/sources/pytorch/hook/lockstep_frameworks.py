"""Phases as frameworks above PyTorch name them, by their objects: DeepSpeed's engine, Megatron-core's schedules.

Loaded when one of them has been imported, by lockstep_pytorch.py, whose rules hold here too.
"""
import functools
import sys

import _lockstep_pytorch as core


def follow_deepspeed():
    """DeepSpeed's engine. Its ZeRO steps PyTorch's optimizer once for each piece of the parameters: a step is when the
    engine applies the gradients, at the end of an accumulation. It reduces them after PyTorch's backward pass."""
    engine = sys.modules["deepspeed.runtime.engine"].DeepSpeedEngine
    engine.forward = core.name_phase(engine.forward, core.FORWARD)
    engine.backward = core.name_phase(engine.backward, core.BACKWARD)
    engine._take_model_step = core.name_phase(engine._take_model_step, core.OPTIMIZER, lambda args: id(args[0]))


def follow_deepspeed_pipeline():
    """DeepSpeed's pipeline: a schedule is a list of instructions, of which the n-th forward and the n-th backward pass
    are those of microbatch n. Its messages go by the group of all ranks."""
    engine = sys.modules["deepspeed.runtime.pipe.engine"].PipelineEngine
    counts = {}  # passes of the schedule that runs

    def counted(phase):
        def number(args, kwargs):
            counts[phase] = counts.get(phase, -1) + 1
            return counts[phase]

        return number

    for name, phase in (("_exec_forward_pass", core.FORWARD), ("_exec_backward_pass", core.BACKWARD)):
        original = getattr(engine, name)
        named = core.name_phase(original, phase, number_of=counted(phase))
        setattr(engine, name, named)
        for instruction, function in engine._INSTRUCTION_MAP.items():
            if function is original:
                engine._INSTRUCTION_MAP[instruction] = named
    run = engine._exec_schedule

    @functools.wraps(run)
    def run_schedule(*args, **kwargs):
        counts.clear()
        return run(*args, **kwargs)

    engine._exec_schedule = run_schedule
    made = engine.__init__

    @functools.wraps(made)
    def init(self, *args, **kwargs):
        made(self, *args, **kwargs)
        _tell_pipeline(self)

    engine.__init__ = init


@core.quiet
def _tell_pipeline(engine):
    import torch.distributed as dist
    if not dist.is_initialized() or engine.num_stages < 2:
        return
    # With several copies of the model the stages of this one have a group of their own, and still send by that of all.
    is_all = engine.num_stages == dist.get_world_size()
    core.tell_pipeline_group(dist.group.WORLD if is_all else engine.grid.get_pipe_parallel_group())


def follow_megatron():
    """Megatron-core's schedules: a pass of a microbatch, also where the backward pass calls the engine of autograd
    directly."""
    schedules = sys.modules["megatron.core.pipeline_parallel.schedules"]
    position = schedules.forward_step.__code__.co_varnames.index("current_microbatch")
    microbatches = {}  # by what a forward pass has returned, for the backward pass that is handed it

    def number_of_forward(args, kwargs):
        return kwargs.get("current_microbatch", args[position] if position < len(args) else None)

    def number_of_backward(args, kwargs):
        output = args[1] if len(args) > 1 else kwargs["output_tensor"]
        return microbatches.pop(_identity_of(output), None)

    original = schedules.forward_step
    named = core.name_phase(original, core.FORWARD, number_of=number_of_forward)

    @functools.wraps(original)
    def forward_step(*args, **kwargs):
        returned = named(*args, **kwargs)
        _note_microbatch(microbatches, returned, lambda: number_of_forward(args, kwargs))
        return returned

    schedules.forward_step = forward_step
    schedules.backward_step = core.name_phase(schedules.backward_step, core.BACKWARD, number_of=number_of_backward)


# As many as wait for their backward pass, and many more: evaluation leaves them behind.
_MOST_MICROBATCHES = 4096


def _identity_of(output):
    return id(output[0] if isinstance(output, list) else output)


@core.quiet
def _note_microbatch(microbatches, returned, number):
    if len(microbatches) >= _MOST_MICROBATCHES:
        microbatches.clear()
    microbatches[_identity_of(returned[0] if isinstance(returned, tuple) else returned)] = number()
