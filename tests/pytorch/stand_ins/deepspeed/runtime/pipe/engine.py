"""DeepSpeed's pipeline engine in outline: instructions, and who calls whom."""
import torch
from types import MethodType

from ..engine import DeepSpeedEngine


class ForwardPass:
    pass


class BackwardPass:
    pass


class OptimizerStep:
    pass


class PipelineEngine(DeepSpeedEngine):
    inputs, outputs, gradients = 0, 0, None

    def __init__(self, module, microbatches, stages=2, optimizer=None):
        super().__init__(module, microbatches, pieces=2, optimizer=optimizer)
        self.microbatches = microbatches
        self.num_stages = stages

    def forward(self, *inputs, **kwargs):
        raise NotImplementedError

    def _exec_forward_pass(self):
        self.outputs = super().forward(self.inputs)

    def _exec_backward_pass(self):
        torch.autograd.backward(self.outputs, grad_tensors=self.gradients)

    def _exec_optimizer_step(self):
        self._take_model_step(None)

    def train_batch(self):
        turns = (self.microbatches - 1) * [ForwardPass, BackwardPass]
        self._exec_schedule([[ForwardPass], turns, [BackwardPass, OptimizerStep]])

    _INSTRUCTION_MAP = {
        ForwardPass: _exec_forward_pass,
        BackwardPass: _exec_backward_pass,
        OptimizerStep: _exec_optimizer_step,
    }

    def _exec_schedule(self, schedule):
        for turn in schedule:
            for instruction in turn:
                self._exec_instr = MethodType(self._INSTRUCTION_MAP[instruction], self)
                self._exec_instr()
