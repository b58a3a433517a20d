# An unmodified PyTorch job (probes/gpu_job.py), and PyTorch's own profiler beside us.
pytorch_checks=("PyTorch's DDP shows its streams" "kernels' durations agree with PyTorch's profiler" "a job keeps its own profile"
  "a launch-bound PyTorch job is not slowed down" "nor by more than PyTorch's profiler does")
job=$root/probes/gpu_job.py

# The kernel of which there are most, its median duration and number: "NAME|MEDIAN|NUMBER".
busiest_kernel() {
  local name_id
  name_id=$(query "$1" "SELECT name_id FROM activities WHERE class = 'compute' GROUP BY name_id ORDER BY COUNT(*) DESC LIMIT 1")
  echo "$(query "$1" "SELECT name FROM names WHERE name_id = $name_id")|$(query "$1" "SELECT end_ns - begin_ns FROM activities WHERE name_id = $name_id" | median)|$(query "$1" "SELECT COUNT(*) FROM activities WHERE name_id = $name_id")"
}

check_profiler() {
  local ours_name ours ours_count theirs_name theirs theirs_count off
  if ! tables kineto "$work/kineto.json"; then
    report FAILED "${pytorch_checks[1]}: $(last_error kineto)"
    report FAILED "${pytorch_checks[2]}: its file is not there or can't be read"
    return
  fi
  IFS='|' read -r ours_name ours ours_count < <(busiest_kernel profiler)
  IFS='|' read -r theirs_name theirs theirs_count < <(busiest_kernel kineto)
  if [ -z "$ours" ] || [ -z "$theirs" ]; then
    report FAILED "${pytorch_checks[1]}: no kernels in $([ -n "$ours" ] && echo "its profile" || echo "what was recorded")"
    report FAILED "${pytorch_checks[2]}: ${theirs_count:-0} kernels in its profile"
    return
  fi
  off=$((ours > theirs ? ours - theirs : theirs - ours))
  report_if [ "$ours_name" = "$theirs_name" -a "$off" -le 2000 ] -- "${pytorch_checks[1]}: median of '$ours_name' $ours ns, $theirs ns in its profile ('$theirs_name')"
  # What runs while the other has CUPTI is a gap in our file; what runs before and after is there.
  report_if [ "$theirs_count" = 200 -a "$ours_count" -ge 200 ] -- "${pytorch_checks[2]}: $theirs_count of 200 kernels in its profile, $ours_count of the 400 outside it in ours"
}

check_python_launches() {
  local plain='' with='' profiled='' ours theirs
  for _ in 1 2 3; do
    plain=$(least "$plain" "$("$python" "$job" launches)")
    profiled=$(least "$profiled" "$("$python" -W ignore "$job" launches profiled)")
    record python-launches env RANK=0 WORLD_SIZE=1 "$python" "$job" launches && with=$(least "$with" "$(tail -n 1 "$work/python-launches.out")")
  done
  if [ -z "$with" ]; then
    report FAILED "${pytorch_checks[3]}: $(last_error python-launches)"
    report FAILED "${pytorch_checks[4]}: nothing was recorded"
    return
  fi
  ours=$(percent_more "$plain" "$with")
  theirs=$(percent_more "$plain" "$profiled")
  report_if at_most "$ours" 5 -- "${pytorch_checks[3]}: $plain ns a launch without, $with ns recorded ($ours %, at most 5)"
  report_if at_most "$with" "$profiled" -- "${pytorch_checks[4]}: $with ns recorded, $profiled ns under torch.profiler ($theirs % more than without)"
}

code=0
"$python" "$job" ready 2>"$work/reason" || code=$?
if [ $code != 0 ]; then
  skip_all $code "$(tail -n 1 "$work/reason")" "${pytorch_checks[@]}"
else
  if record ddp "$python" -m torch.distributed.run --nproc_per_node 2 "$job" ddp; then
    check_streams ddp "${pytorch_checks[0]}" 2 5
  else
    report FAILED "${pytorch_checks[0]}: $(last_error ddp)"
  fi
  if record profiler env RANK=0 WORLD_SIZE=1 "$python" "$job" profiler "$work/kineto.json"; then
    check_profiler
  else
    report FAILED "${pytorch_checks[1]}: $(last_error profiler)"
    report FAILED "${pytorch_checks[2]}: the job failed"
  fi
  check_python_launches
fi
