"""Megatron-core's GPT model under PyTorch's DistributedDataParallel. torchrun --nproc-per-node 2 megatron_ddp.py [STEPS]"""
import sys

import torch
import torch.distributed as dist
from megatron.core import parallel_state
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.tensor_parallel.random import initialize_rng_tracker
from megatron.core.transformer import TransformerConfig
from torch.nn.parallel import DistributedDataParallel


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.cuda.current_device = lambda: "cpu"  # where its buffers go; it asks for no other device
    parallel_state.initialize_model_parallel()
    initialize_rng_tracker(inference_rng_tracker=True)  # the other one is of CUDA devices; there is no dropout
    torch.manual_seed(0)
    words, length = 1000, 64
    config = TransformerConfig(
        num_layers=4, hidden_size=128, num_attention_heads=4, use_cpu_initialization=True, attention_dropout=0,
        hidden_dropout=0, gradient_accumulation_fusion=False, bias_dropout_fusion=False, masked_softmax_fusion=False)
    model = DistributedDataParallel(GPTModel(config, get_gpt_layer_local_spec(), words, length))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(dist.get_rank())
    mask = torch.ones(1, 1, length, length).tril() < 0.5
    position = torch.arange(length).expand(8, -1)
    for step in range(steps):
        tokens = torch.randint(words, (8, length))
        optimizer.zero_grad()
        loss = model(tokens, position, mask, labels=tokens).mean()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


main()
