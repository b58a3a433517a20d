"""torchtitan's own Trainer, its small Llama 3 under FSDP2. torchrun --nproc-per-node 2 torchtitan_fsdp2.py [STEPS [OPTION…]]

OPTION: of torchtitan's command line, behind those below: --parallelism.pipeline_parallel_degree 2 …
"""
import json
import os
import pathlib
import sys
import tempfile
import types

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.distributed.fsdp import FSDPModule


def make_assets(folder):
    """A tokenizer and a data set of what torch says of itself; nothing is fetched."""
    texts = [thing.__doc__ for thing in vars(torch).values() if isinstance(thing.__doc__, str)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    begin, end = "<|begin_of_text|>", "<|end_of_text|>"
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=2048, special_tokens=[begin, end], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": begin, "eos_token": end}))
    (folder / "data").mkdir()
    (folder / "data/train.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def run_on_cpu():
    """What torchtitan lacks on a machine without a GPU: it takes CUDA where it finds no accelerator, asks its device for a
    number and for statistics of memory, of which torch.cpu has none, and divides gradients by an operation that NCCL alone has."""
    torch._utils._get_available_device_type = lambda: "cpu"
    divide = FSDPModule.set_gradient_divide_factor

    def divide_after_the_sum(module, factor):
        divide(module, factor)
        module.set_force_sum_reduction_for_comms(True)

    FSDPModule.set_gradient_divide_factor = divide_after_the_sum
    from torchtitan.components import metrics
    from torchtitan.distributed import utils
    utils.device_module = types.SimpleNamespace(current_device=lambda: 0, synchronize=torch.cpu.synchronize)
    nothing = metrics.DeviceMemStats(0, 0, 0, 0, 0, 0)
    metrics.build_device_memory_monitor = lambda: types.SimpleNamespace(
        device_name="CPU", get_peak_stats=lambda: nothing, reset_peak_stats=lambda: None)


def main(folder):
    make_assets(folder)
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_CACHE=str(folder / "cache"))
    torch.set_num_threads(1)
    steps = sys.argv[1] if len(sys.argv) > 1 else "60"
    # Before torchtitan is imported: it looks at them then.
    sys.argv[1:] = [
        "--job.dump_folder", str(folder / "outputs"), "--model.name", "llama3", "--model.flavor", "debugmodel",
        "--model.hf_assets_path", str(folder), "--training.dataset", "c4_test",
        "--training.dataset_path", str(folder / "data"), "--training.local_batch_size", "4", "--training.seq_len", "64",
        "--training.steps", steps, "--training.mixed_precision_param", "float32", *sys.argv[2:]]
    run_on_cpu()
    from torchtitan import train
    train.main(train.Trainer)


with tempfile.TemporaryDirectory() as temporary:  # one a rank
    main(pathlib.Path(temporary))
