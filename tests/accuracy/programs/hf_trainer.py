"""Hugging Face's Trainer on a small GPT-2 with random weights. torchrun --nproc-per-node 2 hf_trainer.py [STEPS]"""
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class RandomText(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        tokens = torch.randint(1000, (64,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": tokens, "labels": tokens}


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=4, n_head=4))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, use_cpu=not torch.cuda.is_available(), ddp_backend="nccl" if torch.cuda.is_available() else "gloo", max_steps=steps, per_device_train_batch_size=8,
            logging_steps=20, save_strategy="no", report_to=[])
        Trainer(model=model, args=arguments, train_dataset=RandomText()).train()


main()
