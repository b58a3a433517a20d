"""DeepSpeed's engine in outline: names, and who calls whom."""
import torch
from torch.optim.optimizer import Optimizer


class DeepSpeedEngine:
    def __init__(self, module, gradient_accumulation_steps, pieces, optimizer=None):
        self.module = module
        self.optimizer = optimizer or Optimizer()
        self.pieces = pieces
        self.accumulated = gradient_accumulation_steps
        self.micro_steps = 0

    def __call__(self, *inputs):
        return self.forward(*inputs)

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    def backward(self, loss, retain_graph=False):
        torch.autograd.backward(loss)
        return loss

    def _take_model_step(self, lr_kwargs):
        for _ in range(self.pieces):  # ZeRO: each piece of the parameters by itself
            self.optimizer.step()

    def step(self, lr_kwargs=None):
        self.micro_steps += 1
        if self.micro_steps % self.accumulated == 0:
            self._take_model_step(lr_kwargs)
