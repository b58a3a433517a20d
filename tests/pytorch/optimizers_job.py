"""Trains a small model on one process with optimizers that come and go: optimizers_job.py MODE. Prints how many steps it made.

"kept": one for all steps. "anew": one for each round. "scheduled": that, and a scheduler of its learning rate. "two_anew": a
critic's and a generator's for each round, which belong to one step. "outer": one for each round within, and one that is kept
and steps once a round, which is no step of its own.
"""
import sys

import torch

ROUNDS, STEPS = 5, 12

mode = sys.argv[1]
critic, generator = torch.nn.Linear(32, 1), torch.nn.Linear(32, 32)


def made_for(model):
    return torch.optim.SGD(model.parameters(), 1e-3)


def trained_by(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


inner, other, outer = made_for(critic), made_for(generator), made_for(generator)
steps = 0
for _ in range(ROUNDS):
    if mode != "kept":
        inner, other = made_for(critic), made_for(generator)
    if mode == "scheduled":
        scheduler = torch.optim.lr_scheduler.StepLR(inner, 3)
    for _ in range(STEPS):
        trained_by(inner, critic(torch.randn(4, 32)).mean())
        if mode == "two_anew":
            trained_by(other, critic(generator(torch.randn(4, 32))).mean())
        if mode == "scheduled":
            scheduler.step()
        steps += 1
    if mode == "outer":
        outer.step()
print(steps)
