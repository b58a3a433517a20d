"""Hugging Face's Trainer on a small GPT-2 with random weights, which evaluates and saves every 20 steps. torchrun --nproc-per-node 2 hf_trainer.py [STEPS]"""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from shared_folder import shared_folder


class RandomText(torch.utils.data.Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        tokens = torch.randint(1000, (64,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": tokens, "labels": tokens}


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=4, n_head=4))
    with shared_folder() as folder:
        arguments = TrainingArguments(
            output_dir=folder, use_cpu=not torch.cuda.is_available(), ddp_backend="nccl" if torch.cuda.is_available() else "gloo", max_steps=steps, per_device_train_batch_size=8,
            per_device_eval_batch_size=8, logging_steps=20, eval_strategy="steps", eval_steps=20, save_strategy="steps", save_steps=20,
            report_to=[])
        Trainer(model=model, args=arguments, train_dataset=RandomText(4096), eval_dataset=RandomText(128)).train()


main()
