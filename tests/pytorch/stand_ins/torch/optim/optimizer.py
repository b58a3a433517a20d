"""Optimizers call the hooks that are registered for all of them."""
_before, _after = [], []


def register_optimizer_step_pre_hook(hook):
    _before.append(hook)


def register_optimizer_step_post_hook(hook):
    _after.append(hook)


class Optimizer:
    def step(self, *args, **kwargs):
        for hook in _before:
            hook(self, args, kwargs)
        for hook in _after:
            hook(self, args, kwargs)
