"""Lightning's Trainer, strategy ddp, which validates and saves after each epoch of 20 steps. torchrun --nproc-per-node 2 lightning_ddp.py [STEPS]"""
import sys

import lightning
import torch
import torch.nn as nn

from shared_folder import shared_folder


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.layers(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        self.log("validation_loss", nn.functional.cross_entropy(self.layers(x), y), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    data = torch.utils.data.TensorDataset(torch.randn(20 * 2 * 64, 1024), torch.randint(10, (20 * 2 * 64,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    held_out = torch.utils.data.TensorDataset(torch.randn(2 * 2 * 256, 1024), torch.randint(10, (2 * 2 * 256,)))
    validation_loader = torch.utils.data.DataLoader(held_out, batch_size=256)
    # Two ranks that share a GPU are two nodes of one GPU each.
    shared = torch.cuda.device_count() == 1
    with shared_folder() as folder:
        trainer = lightning.Trainer(
            accelerator="auto", devices=1 if shared else 2, num_nodes=2 if shared else 1, strategy="ddp", max_steps=steps, max_epochs=-1, logger=False,
            default_root_dir=folder, enable_progress_bar=False)
        trainer.fit(Classifier(), loader, validation_loader)


main()
