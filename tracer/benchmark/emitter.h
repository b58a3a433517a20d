// The measured side of the benchmark: a process that makes NVTX calls in bursts when it is told to, since a
// tool is chosen once per process.
#pragma once

#include <cstdint>

namespace lockstep::tracer::benchmark_support {

enum class Workload : std::uint32_t {
  push_pop = 0,       // nvtxRangePushA, nvtxRangePop
  push_pop_long = 1,  // the same with a name of 60 characters
  registered = 2,     // in a domain, by a registered string
  payload = 3,        // in a domain, with the payload of a collective
  mark = 4,           // one nvtxMarkA
  start_end = 5,      // nvtxRangeStartA, nvtxRangeEnd
};

struct Request {
  Workload workload = Workload::push_pop;
  std::uint32_t pairs = 0;  // 0: end
};

// Serves requests on the descriptors until one says "end": makes the calls and answers with the nanoseconds
// they took.
int serve(int requests, int answers);

}  // namespace lockstep::tracer::benchmark_support
