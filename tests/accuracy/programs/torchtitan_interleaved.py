"""torchtitan's own Trainer, its small Llama 3 in a pipeline, Interleaved1F1B: two stages of the model on each rank, four microbatches.
torchrun --nproc-per-node 2 torchtitan_interleaved.py [STEPS]"""
import os
import runpy
import sys

steps = sys.argv[1] if len(sys.argv) > 1 else "60"
sys.argv[1:] = [steps, "--parallelism.pipeline_parallel_degree", os.environ["WORLD_SIZE"],
                "--parallelism.pipeline_parallel_schedule", "Interleaved1F1B", "--parallelism.pipeline_parallel_microbatch_size", "1"]
runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchtitan_fsdp2.py"), run_name="__main__")
