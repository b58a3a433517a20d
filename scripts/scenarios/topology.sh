# The same job on different machines (sourced by scripts/scenario): network namespaces with links of a given rate.

scenario topology "a ZeRO-3 Llama as 1 node x 4 ranks, and as 4 nodes x 1 rank with fast and with slow links"
run_topology() {
  # Llama 3 8B at a thirty-second of its width: heads, key and value heads and SwiGLU in its proportions.
  local train=(--model llama --kv-heads 1 --intermediate-size 448
    --mode zero3 --deepspeed "$root/reference_trainer/examples/llama-zero3.json")
  hidden=128 sequence_length=32 steps=8 flops=5e8
  launch=() # the ranks are the nodes'
  on_nodes one_node --nodes 1 --ranks-per-node 4
  record one_node "${train[@]}"
  on_nodes fast_links --nodes 4 --rate 200mbit
  record fast_links "${train[@]}"
  on_nodes slow_links --nodes 4 --rate 50mbit
  record slow_links "${train[@]}"
  compare one_node fast_links slow_links
  "$root/scripts/scenarios/links" "$out" one_node fast_links=200 slow_links=50 | tee "$out/links.txt"
}
# on_nodes LABEL FLAG...: what is recorded next runs on these nodes (scripts/scenarios/nodes).
on_nodes() { runner=("$root/scripts/scenarios/nodes" --counters "$out/$1.counters" "${@:2}" --); }
