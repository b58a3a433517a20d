# The reference trainer on NCCL, two ranks; they share the GPU where there is but one.

# check_streams NAME CHECK RANKS STEPS: computation and communication of each rank on lanes of their own, all joined to
# their launches, and all steps there.
check_streams() {
  local name=$1 check=$2 ranks=$3 steps=$4 compute communication unjoined all shared followed counted wrong=''
  compute=$(query "$name" "SELECT COUNT(DISTINCT rank) FROM activities WHERE class = 'compute'")
  communication=$(query "$name" "SELECT COUNT(DISTINCT rank) FROM activities WHERE class IN ('collective', 'p2p')")
  # Synchronization is the host's own: nothing launched it.
  unjoined=$(query "$name" "SELECT COUNT(*) FROM activities WHERE launch_begin_ns IS NULL AND class <> 'sync'")
  all=$(query "$name" "SELECT COUNT(*) FROM activities WHERE class <> 'sync'")
  shared=$(query "$name" "SELECT COUNT(*) FROM (SELECT rank, lane FROM activities GROUP BY rank, lane HAVING SUM(class = 'compute') > 0 AND SUM(class IN ('collective', 'p2p')) > 0)")
  followed=$(query "$name" "SELECT COUNT(*) FROM activities JOIN lanes USING (rank, lane) WHERE class = 'compute' AND kind <> 'device_stream'")
  counted=$(query "$name" "SELECT COUNT(DISTINCT step) FROM steps")
  [ "$compute" = "$ranks" ] || wrong+="; $compute of $ranks ranks with kernels"
  [ "$communication" = "$ranks" ] || wrong+="; $communication of $ranks ranks with communication"
  at_most "$unjoined" "$((all / 100))" || wrong+="; $unjoined of $all activities without their launch"
  [ "$shared" = 0 ] || wrong+="; computation and communication on one stream"
  [ "$followed" = 0 ] || wrong+="; $followed computations that are no kernels"
  [ "$counted" -ge "$steps" ] || wrong+="; $counted of $steps steps"
  report_if [ -z "$wrong" ] -- "$check: $all activities of $ranks ranks, $((all - unjoined)) joined to their launches, $counted steps$wrong"
}

trainer_job=(train --ranks 2 --steps 5 --layers 4 --hidden 256 --heads 4 --batch-size 4 --device cuda --backend nccl)
reason=
if [ ! -x "$folder/bin/lockstep-train" ]; then
  reason="$folder/bin/lockstep-train is not there"
elif ! "$lockstep" train --steps 1 --device cuda >"$work/reason" 2>&1; then
  reason=$(grep -m 1 . "$work/reason" || echo "lockstep train --device cuda fails")
fi
for mode in ddp fsdp zero3; do
  check="the trainer's $mode shows its streams"
  if [ -n "$reason" ]; then
    skip_all 77 "$reason" "$check"
  elif record "train-$mode" "$lockstep" "${trainer_job[@]}" --mode $mode; then
    check_streams "train-$mode" "$check" 2 5
  else
    report FAILED "$check: $(last_error "train-$mode")"
  fi
done
