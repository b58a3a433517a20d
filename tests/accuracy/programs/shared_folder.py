"""A temporary folder that all ranks on a machine share, as they do the folder that a program saves into. It is gone once all have left it."""
import contextlib
import os
import pathlib
import shutil
import tempfile

import torch.distributed as dist


@contextlib.contextmanager
def shared_folder():
    folder = pathlib.Path(tempfile.gettempdir()) / f"lockstep-accuracy-{os.getuid()}-{os.environ['MASTER_PORT']}"
    folder.mkdir(exist_ok=True)
    try:
        yield str(folder)
        if dist.is_initialized():
            dist.barrier()
    finally:
        if os.environ["RANK"] == "0":
            shutil.rmtree(folder, ignore_errors=True)
