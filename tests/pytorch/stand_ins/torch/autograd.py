def backward(*tensors, grad_tensors=None):
    return None
