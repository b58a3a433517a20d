# Kernels whose work is known, through the CUDA driver alone (probes/gpu_kernels.cpp).
kernel_checks=("kernels' durations agree with CUDA events" "nodes of graphs belong to their launches"
  "a launch-bound program is not slowed down" "ten thousand launches are all there" "a launch costs the host little")

check_durations() {
  # Each round is a kernel that holds the GPU and the one that is measured: every second of the stream, after the cold
  # one. What events add to a kernel is the median difference; what is left of each must be within 2 µs.
  query durations "SELECT end_ns - begin_ns FROM activities WHERE class = 'compute' ORDER BY begin_ns" |
    awk 'NR > 1 && NR % 2 == 1' >"$work/recorded"
  local seen
  seen=$(paste -d ' ' "$work/durations.out" "$work/recorded" | awk '
    NF == 3 { difference[NR] = $2 - $3; sorted[NR] = $2 - $3; n = NR }
    END {
      if (n != 80) { print "only " (n + 0) " of 80 kernels were recorded"; exit }
      for (i = 2; i <= n; ++i) for (k = i; k > 1 && sorted[k - 1] > sorted[k]; --k) { t = sorted[k]; sorted[k] = sorted[k - 1]; sorted[k - 1] = t }
      middle = sorted[int((n + 1) / 2)]
      for (i = 1; i <= n; ++i) { off = difference[i] - middle; if (off < 0) off = -off; if (off > 2000) ++bad; if (off > worst) worst = off }
      printf "%s%d of %d kernels within 2000 ns (worst %d ns), events add %d ns\n", (bad > n / 20 ? "off: " : ""), n - bad, n, worst, middle
    }')
  case "$seen" in off:* | only*) report FAILED "${kernel_checks[0]}: $seen" ;; *) report ok "${kernel_checks[0]}: $seen" ;; esac
}

check_graph() {
  local nodes launches
  nodes=$(query graph "SELECT COUNT(*) FROM activities WHERE class = 'compute' AND launch_begin_ns IS NOT NULL")
  launches=$(query graph "SELECT COUNT(DISTINCT launch_begin_ns) FROM activities WHERE class = 'compute' AND launch_begin_ns IS NOT NULL")
  report_if [ "$nodes $launches" = "200 20" ] -- "${kernel_checks[1]}: $nodes of 200 nodes joined to $launches of 20 launches"
}

check_launches() {
  # The best of five each, in turns: whatever else runs only adds.
  local plain='' with='' host_plain host_with='' percent count lost
  for _ in 1 2 3 4 5; do
    plain=$(least "$plain" "$("$kernels" launches)")
    record launches env RANK=0 WORLD_SIZE=1 "$kernels" launches && with=$(least "$with" "$(tail -n 1 "$work/launches.out")")
  done
  if [ -z "$with" ]; then
    report FAILED "${kernel_checks[2]}: $(last_error launches)"
    report FAILED "${kernel_checks[3]}: nothing was recorded"
    report FAILED "${kernel_checks[4]}: nothing was recorded"
    return
  fi
  percent=$(percent_more "$plain" "$with")
  report_if at_most "$percent" 5 -- "${kernel_checks[2]}: $plain ns a launch of a 5 µs kernel without, $with ns recorded: $percent % (at most 5)"
  # Kernels that end before the next launch: the host is what takes time.
  host_plain=$(least $("$kernels" launches 1000) $("$kernels" launches 1000))
  record host env RANK=0 WORLD_SIZE=1 "$kernels" launches 1000 && host_with=$(tail -n 1 "$work/host.out")
  record host env RANK=0 WORLD_SIZE=1 "$kernels" launches 1000 && host_with=$(least "$host_with" "$(tail -n 1 "$work/host.out")")
  report_if at_most "$((${host_with:-1000000} - host_plain))" 3000 -- "${kernel_checks[4]}: $host_plain ns a launch of a 1 µs kernel without, ${host_with:-nothing} ns recorded (at most 3000 more)"
  count=$(query launches "SELECT COUNT(*) FROM activities WHERE class = 'compute'")
  lost=$(query launches "SELECT SUM(dropped_events) FROM ranks")
  report_if [ "$((count + lost))" = 10001 ] -- "${kernel_checks[3]}: $count recorded and $lost counted as lost, of 10001"
}

code=0
"$kernels" durations >"$work/plain" 2>"$work/reason" || code=$?
if [ $code != 0 ]; then
  skip_all $code "$(head -n 1 "$work/reason")" "${kernel_checks[@]}"
else
  one_rank=(env RANK=0 WORLD_SIZE=1 "$kernels")
  if record durations "${one_rank[@]}" durations; then check_durations; else report FAILED "${kernel_checks[0]}: $(last_error durations)"; fi
  if record graph "${one_rank[@]}" graph; then check_graph; else report FAILED "${kernel_checks[1]}: $(last_error graph)"; fi
  check_launches
fi
