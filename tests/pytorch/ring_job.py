"""A training job with one slow step, whose rank ends long after it: ring_job.py SLOW_STEP SECONDS_AFTER."""
import sys
import time

import torch

slow, after = int(sys.argv[1]), float(sys.argv[2])
torch.set_num_threads(1)
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
end = None
step = 0
# Nobody waits for ever: a machine that is too slow for this many steps has shown what it has by then.
while step < 100000 and (end is None or time.monotonic() < end):
    model(torch.ones(4, 8)).sum().backward()
    if step == slow:
        time.sleep(1)
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.02)
    if step == slow:
        end = time.monotonic() + after
    step += 1
print("done")
