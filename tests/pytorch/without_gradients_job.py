"""Trains on one rank, without a wrapper of PyTorch's and without eval(): without_gradients_job.py MODE OUTPUT.

40 steps. MODE "evaluation": evaluates under no_grad after step 10 (a block around the loop), with a function under
inference_mode after step 20 (a block for each batch), in a function that no_grad decorates after step 30 (within another
block, which an exception ends), and after training. "switch": evaluates between two calls of set_grad_enabled after step
10, in a block of it for each batch after step 20, in a function that it decorates after step 30. "before": evaluates before
training, and after steps 10, 20 and 30. "short": evaluates after steps 10 and 20, the first time for less than a step.
"training": what is no evaluation, most of it longer than a step: a teacher in each step; every 6 steps metrics, twice; every
12 steps rollouts that the next steps train on, a look at samples between forward and backward pass, one batch of
validation, and a mean of weights without a forward pass; once the statistics of batch normalization. "stages": a function
that trains 12 steps on rollouts, called twice, and nothing else. "mode": trains, evaluates in evaluation mode, and then
sleeps. "compile": as "evaluation", and compiles a function after step 5. Prints the losses; leaves OUTPUT.json: begin and
end of each evaluation in ns, whether no_grad and set_grad_enabled are PyTorch's own afterwards, and how many hooks of
modules there are.
"""
import json
import sys
import time

import torch
import torch.utils.checkpoint

MODE, OUTPUT = sys.argv[1:]
STEPS = 40
evaluations = []
lengths = []  # of steps, in ns
longest_step = 70_000_000 if MODE in ("training", "stages") else 1_000_000  # ns; of the first, sleep is 50 ms


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


@torch.set_grad_enabled(False)
def all_batches_switched():
    return sum(model(x).sum().item() for x in batches())


def evaluate_switched(step):
    if step == 10:
        with evaluation():
            torch.set_grad_enabled(False)
            for x in batches():
                model(x)
            torch.set_grad_enabled(True)
    if step == 20:
        with evaluation():
            for x in batches():
                with torch.set_grad_enabled(False):
                    model(x)
    if step == 30:
        with evaluation():
            all_batches_switched()


def accuracy():
    with torch.no_grad():
        for x in batches():
            model(x)


def evaluate_all():
    with evaluation():
        accuracy()


def evaluate_short(step):
    if step in (10, 20):
        with evaluation(), torch.no_grad():
            begin, step_takes = time.monotonic_ns(), sorted(lengths)[len(lengths) // 2]
            model(batch())
            while time.monotonic_ns() < begin + (0.75 if step == 10 else 3) * step_takes:
                time.sleep(0.001)


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
    if step % 6 == 1:
        torch.set_grad_enabled(False)
        pass_over_all()
        torch.set_grad_enabled(True)
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


def roll_out():
    with torch.no_grad():
        pass_over_all()


def collect():
    roll_out()


def stage():
    """Rollouts, some calls deep, and the steps that train on them."""
    collect()
    for step in range(12):
        model(batch()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def methods():
    return torch.no_grad.__enter__, torch.no_grad.__exit__, torch.set_grad_enabled.__init__, torch.set_grad_enabled.__call__


def main():
    global longest_step
    if MODE == "stages":
        stage()
        stage()
    if MODE == "before":
        evaluate_all()
    for step in range(STEPS if MODE != "stages" else 0):
        begin = time.monotonic_ns()
        if MODE == "short":
            time.sleep(0.03)
        loss = compute_loss(step)
        loss.backward()
        with torch.no_grad():
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        lengths.append(time.monotonic_ns() - begin)
        if step > 0 and MODE != "training":
            longest_step = max(longest_step, time.monotonic_ns() - begin)
        print(f"step {step} loss {loss.item():.4f}" if step == 0 else f"step {step}")  # statistics depend on the time
        after_step(step)
        if MODE == "compile" and step == 5:
            torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.randn(4))
        if MODE == "switch":
            evaluate_switched(step)
        elif MODE == "before":
            if step in (10, 20, 30):
                evaluate_all()
        elif MODE == "short":
            evaluate_short(step)
        elif MODE not in ("training", "stages", "mode"):
            evaluate(step)
    if MODE == "mode":
        with evaluation():
            model.eval()
            all_batches()
        time.sleep(0.3)
    elif MODE in ("evaluation", "compile"):
        with evaluation(), torch.inference_mode():
            for x in batches():
                model(x)
    with open(f"{OUTPUT}.json", "w") as file:
        json.dump({"evaluations": evaluations, "own": not any(hasattr(method, "__wrapped__") for method in methods()),
                   "hooks": len(torch.nn.modules.module._global_forward_pre_hooks)}, file)


main()
