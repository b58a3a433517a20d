"""As much of torch as the start-up hook looks at, without tensors: phases take place, and nothing is computed."""
from . import autograd, distributed, optim


class cuda:
    @staticmethod
    def is_initialized():
        return False
