"""The reference trainer's GPT-2 in Python: PyTorch's own DistributedDataParallel or FSDP2 on Gloo.

One rank of a job that compare_pytorch.py starts. Prints the seconds of each step on rank 0, one to a line.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

VOCABULARY = 256


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(hidden)
        self.query_key_value = nn.Linear(hidden, 3 * hidden, bias=False)
        self.attention_output = nn.Linear(hidden, hidden)
        self.mlp_norm = nn.LayerNorm(hidden)
        self.mlp_input = nn.Linear(hidden, 4 * hidden)
        self.mlp_output = nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.query_key_value(self.attention_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = (part.transpose(1, 2) for part in parts.unbind(2))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.attention_output(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp_output(F.gelu(self.mlp_input(self.mlp_norm(x))))


class Gpt2(nn.Module):
    def __init__(self, layers, hidden, heads, sequence_length):
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, hidden)
        self.position_embedding = nn.Embedding(sequence_length, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads) for _ in range(layers))
        self.final_norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, VOCABULARY, bias=False)

    def forward(self, tokens, targets):
        x = self.token_embedding(tokens) + self.position_embedding(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.final_norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def wrapped(model, arguments):
    if arguments.mode == "ddp":
        return nn.parallel.DistributedDataParallel(
            model, bucket_cap_mb=arguments.bucket_cap_mb, gradient_as_bucket_view=True
        )
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["ddp", "fsdp"], required=True)
    for name, kind in [("layers", int), ("hidden", int), ("heads", int), ("sequence-length", int),
                       ("batch-size", int), ("steps", int), ("bucket-cap-mb", float)]:
        parser.add_argument("--" + name, type=kind, required=True)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    model = Gpt2(arguments.layers, arguments.hidden, arguments.heads, arguments.sequence_length)
    model = wrapped(model, arguments)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        windows = torch.randint(VOCABULARY, (arguments.batch_size, arguments.sequence_length + 1))
        optimizer.zero_grad()
        loss = model(windows[:, :-1].contiguous(), windows[:, 1:].contiguous())
        loss.backward()
        mean = loss.detach().double().reshape(1)
        work = dist.all_reduce(mean, async_op=True)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        work.wait()
        mean.item()
        if os.environ["RANK"] == "0":
            print(time.perf_counter() - begin, flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
