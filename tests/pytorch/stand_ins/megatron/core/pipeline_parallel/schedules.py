"""Megatron-core's schedules in outline: names, arguments, and who calls whom."""


class Tensor:
    pass


def forward_step(forward_step_func, data_iterator, model, num_microbatches, input_tensor, forward_data_store, config,
                 cp_group_size, collect_non_loss_data=False, checkpoint_activations_microbatch=None,
                 is_first_microbatch=False, current_microbatch=None, vp_stage=None, is_last_stage=True):
    output = forward_step_func(data_iterator, model)
    return (output if isinstance(input_tensor, Tensor) else [output]), 1


def backward_step(input_tensor, output_tensor, output_tensor_grad, model_type, config):
    return Tensor()  # PyTorch's engine is called directly where the outputs were let go


def forward_backward_pipelining_without_interleaving(*, forward_step_func, data_iterator, model, num_microbatches,
                                                     input_tensor, num_warmup_microbatches):
    outputs, store = [], []

    def forward(number):
        output, _ = forward_step(forward_step_func, data_iterator, model, num_microbatches, input_tensor, store, None, 1,
                                 current_microbatch=number)
        outputs.append(output)

    for number in range(num_warmup_microbatches):
        forward(number)
    for number in range(num_warmup_microbatches, num_microbatches):
        forward(number)
        backward_step(input_tensor, outputs.pop(0), None, None, None)
    for _ in range(num_warmup_microbatches):
        backward_step(input_tensor, outputs.pop(0), None, None, None)
    return store
