"""Training loops on the frameworks that stand_ins/ has in outline: framework_jobs.py MODE.

MODE: deepspeed (three steps of two microbatches), deepspeed_pipeline (two steps of three microbatches), failing (its model raises now and then), megatron (two steps of a
pipeline's first stage, four microbatches each), virtual (a stage of two chunks, whose passes turn round).
"""
import sys

import torch  # noqa: F401  first, as programs do


def deepspeed(model=lambda number: number):
    from deepspeed import DeepSpeedEngine
    engine = DeepSpeedEngine(model, gradient_accumulation_steps=2, pieces=3)
    for number in range(6):
        try:
            print("loss", engine.backward(engine(number)))
        except ValueError as error:
            print("error", error)
        engine.step()


def deepspeed_pipeline():
    from deepspeed.runtime.pipe.engine import PipelineEngine
    engine = PipelineEngine(lambda number: number, microbatches=3)
    for _ in range(2):
        engine.train_batch()
    print("trained")


def failing():
    def model(number):
        if number % 3 == 0:
            raise ValueError(number)
        return number

    deepspeed(model)


def megatron():
    from torch.optim.optimizer import Optimizer
    from megatron.core.pipeline_parallel import schedules
    optimizer = Optimizer()
    for input_tensor in (None, schedules.Tensor()):
        schedules.forward_backward_pipelining_without_interleaving(
            forward_step_func=lambda *_: schedules.Tensor(), data_iterator=None, model=None, num_microbatches=4,
            input_tensor=input_tensor, num_warmup_microbatches=1)
        optimizer.step()
    print("trained")


def virtual():
    from torch.optim.optimizer import Optimizer
    from megatron.core.pipeline_parallel.schedules import Tensor, backward_step, forward_step

    def forward(number):
        return forward_step(lambda *_: Tensor(), None, None, 2, None, [], None, 1, current_microbatch=number)[0]

    first = [forward(0), forward(1)]
    second = [forward(0), forward(1)]
    for output in second + first[::-1]:
        backward_step(None, output, None, None, None)
    Optimizer().step()
    print("trained")


globals()[sys.argv[1]]()
