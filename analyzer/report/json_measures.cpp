#include "analyzer/report/json_measures.h"

namespace lockstep::analyzer {

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const Partition& partition) {
  Json object;
  for (std::size_t i = 0; i < kCauseCount; ++i) object[to_string(static_cast<Cause>(i))] = partition.ns[i];
  return object;
}

}  // namespace

// A figure that is not known is null, never 0; explain_absences() says why.
void add_measures(Json& object, const Measures& m) {
  const auto put = [&object](const char* name, bool known, const auto& value) {
    object[name] = known ? Json(value) : Json(nullptr);
  };
  const bool waits = m.known && m.waits_known;
  put("window_ns", m.known || m.window_ns > 0, m.window_ns);
  put("compute_ns", m.known, m.compute_ns);
  put("communication_ns", m.known, m.communication_ns);
  put("overlap_ns", m.known, m.overlap_ns);
  put("exposed_communication_ns", m.known, m.exposed_communication_ns);
  put("overlap_ratio", m.known, optional(m.overlap_ratio));
  put("overlap_ratio_per_kernel", m.known, optional(m.overlap_ratio_per_kernel));
  put("collective_wait_ns", waits, m.collective_wait_ns);
  put("hidden_collective_wait_ns", waits, m.hidden_collective_wait_ns);
  put("p2p_wait_ns", waits, m.p2p_wait_ns);
  put("hidden_p2p_wait_ns", waits, m.hidden_p2p_wait_ns);
  put("unclassified_ns", m.known, m.unclassified_ns);
  put("off_cpu_ns", m.known, optional(m.off_cpu_ns));
  put("run_queue_ns", m.known, optional(m.run_queue_ns));
  put("on_core_ns", m.known, optional(m.on_core_ns));
  // Beside the partition, not in it: the partition's nine members sum to the window.
  put("compute_over_communication_ns", m.known, m.partition.compute_over_communication_ns);
  put("partition", m.known, to_json(m.partition));
}

}  // namespace lockstep::analyzer
