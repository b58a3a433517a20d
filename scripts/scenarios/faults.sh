# Scenarios with one planted fault each (sourced by scripts/scenario).

scenario slow_rank "rank 2 computes twice as long"
run_slow_rank() { record run --mode ddp --fault slow_rank:rank=2,factor=2 && show run; }

scenario slow_stage "stage 1 of a pipeline of 4 computes twice as long"
run_slow_stage() { record run --mode pipeline --microbatches 8 --fault slow_stage:stage=1,factor=2 && show run; }

scenario slow_loader "rank 1 gets each batch 60 ms later"
run_slow_loader() { record run --mode ddp --fault slow_loader:rank=1,ms=60 && show run; }

scenario pause "every rank stops for 60 ms once a step, each at another place"
run_pause() { record run --mode ddp --fault pause:ms=60 && show run; }

scenario uneven_batch "samples have 1 to 4 times the usual length, drawn anew for each rank and step"
run_uneven_batch() { flops=5e8 && record run --mode ddp --seed 16 --fault uneven_batch:factor=4 && show run; }

scenario delayed_launch "rank 3 starts each computation 8 ms late"
run_delayed_launch() { record run --mode ddp --fault delayed_launch:rank=3,us=8000 && show run; }

scenario skip_collective "rank 1 leaves out a collective in step 3; the others wait for it until they give up"
run_skip_collective() {
  expect_failure=1 record run --mode fsdp --timeout 10 --fault skip_collective:rank=1,steps=3 && show run
}

scenario slow_link "what rank 2 sends goes out at 20 Mbit/s"
# Both ends of the link are late, in turn: that takes more steps to tell than one late rank does.
run_slow_link() { steps=19 && record run --mode fsdp --fault slow_link:rank=2,mbit=20 && show run; }
