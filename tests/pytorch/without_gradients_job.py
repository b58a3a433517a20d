"""Trains on one rank, without a wrapper of PyTorch's and without eval(): without_gradients_job.py MODE OUTPUT.

40 steps. MODE "evaluation": evaluates under no_grad after step 10 (a block around the loop), with a function under
inference_mode after step 20 (a block for each batch), in a function that no_grad decorates after step 30 (within another
block, which an exception ends), and after training. "training": what is no evaluation, most of it longer than a step: a
teacher in each step; every 6 steps metrics; every 12 steps rollouts that the next steps train on, a look at samples
between forward and backward pass, one batch of validation, and a mean of weights without a forward pass; once the
statistics of batch normalization. "mode": trains, evaluates in evaluation mode, and then sleeps. "compile": as "evaluation", and compiles a function after step 5. Prints the losses;
leaves OUTPUT.json: begin and end of each evaluation in ns, whether no_grad is PyTorch's own afterwards, and how many hooks
of modules there are.
"""
import json
import sys
import time

import torch
import torch.utils.checkpoint

MODE, OUTPUT = sys.argv[1:]
STEPS = 40
evaluations = []
longest_step = 70_000_000 if MODE == "training" else 1_000_000  # ns; of the first, sleep is 50 ms


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.Linear(64, 64))

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.layers, x, use_reentrant=True)


torch.manual_seed(0)
model, teacher = Net(), Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def batch():
    return torch.randn(16, 64, requires_grad=True)


def batches():
    """As many as take three times as long as any step did."""
    begin = time.monotonic_ns()
    yield batch()
    while time.monotonic_ns() < begin + 3 * longest_step:
        time.sleep(0.001)
        yield torch.ones(16, 64)


class evaluation:
    def __enter__(self):
        self.begin = time.monotonic_ns()

    def __exit__(self, *_):
        evaluations.append([self.begin, time.monotonic_ns()])


@torch.inference_mode()
def one_batch(x):
    return model(x).sum().item()


@torch.no_grad()
def all_batches():
    return sum(model(x).sum().item() for x in batches())


def evaluate(step):
    if step == 10:
        with evaluation(), torch.no_grad():
            for x in batches():
                model(x)
    if step == 20:
        with evaluation():
            for x in batches():
                one_batch(x)
    if step == 30:
        with evaluation():
            try:
                with torch.no_grad():
                    all_batches()
                    raise ValueError
            except ValueError:
                pass


def pass_over_all():
    for x in batches():
        teacher(x)


def compute_loss(step):
    if MODE != "training":
        return model(batch()).square().mean()
    time.sleep(0.05)
    if step % 12 == 0:
        with torch.no_grad():
            pass_over_all()  # rollouts
    with torch.no_grad():
        wanted = teacher(batch())
        if step == 17:
            pass_over_all()
    loss = (model(batch()) - wanted).square().mean()
    if step % 12 == 3:
        with torch.no_grad():
            pass_over_all()  # samples
    return loss


def after_step(step):
    if MODE != "training":
        return
    if step % 6 == 4:
        with torch.inference_mode():
            pass_over_all()  # metrics
    if step % 12 == 5:
        with torch.no_grad():
            for mean, own in zip(teacher.parameters(), model.parameters()):
                mean.lerp_(own, 0.5)
            time.sleep(0.2)
    if step % 12 == 7:
        with torch.no_grad():
            model(torch.ones(16, 64))
            time.sleep(0.003)
    if step == 25:
        torch.optim.swa_utils.update_bn(batches(), teacher)


def main():
    global longest_step
    for step in range(STEPS):
        begin = time.monotonic_ns()
        loss = compute_loss(step)
        loss.backward()
        with torch.no_grad():
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step > 0 and MODE != "training":
            longest_step = max(longest_step, time.monotonic_ns() - begin)
        print(f"step {step} loss {loss.item():.4f}" if step == 0 else f"step {step}")  # statistics depend on the time
        after_step(step)
        if MODE == "compile" and step == 5:
            torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.randn(4))
        if MODE not in ("training", "mode"):
            evaluate(step)
    if MODE == "mode":
        with evaluation():
            model.eval()
            all_batches()
        time.sleep(0.3)
    elif MODE != "training":
        with evaluation(), torch.inference_mode():
            for x in batches():
                model(x)
    with open(f"{OUTPUT}.json", "w") as file:
        json.dump({"evaluations": evaluations, "own": not hasattr(torch.no_grad.__enter__, "__wrapped__"),
                   "hooks": len(torch.nn.modules.module._global_forward_pre_hooks)}, file)


main()
