"""Lightning's Trainer, strategy ddp. torchrun --nproc-per-node 2 lightning_ddp.py [STEPS]"""
import sys

import lightning
import torch
import torch.nn as nn


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.layers(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    data = torch.utils.data.TensorDataset(torch.randn(8192, 1024), torch.randint(10, (8192,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    # Two ranks that share a GPU are two nodes of one GPU each.
    shared = torch.cuda.device_count() == 1
    trainer = lightning.Trainer(
        accelerator="auto", devices=1 if shared else 2, num_nodes=2 if shared else 1, strategy="ddp", max_steps=steps, max_epochs=-1, logger=False,
        enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Classifier(), loader)


main()
