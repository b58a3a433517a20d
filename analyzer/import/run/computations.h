// What the device activities of a file say of the model's part that they compute.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analyzer/model/job.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

class Computations {
 public:
  // Both outlive this.
  Computations(const trace::Reader& reader, std::vector<Computation>& all) : reader_(reader), all_(all) {}

  // Index, in the list of all, of what the event says of its computation; kNone where it says nothing. The
  // pass is taken from the name where the event has none.
  std::uint32_t find(const trace::DeviceActivity& event);

 private:
  const trace::Reader& reader_;
  std::vector<Computation>& all_;
  std::unordered_map<trace::StringId, Pass> passes_;
  std::map<Computation, std::uint32_t> known_;
};

}  // namespace lockstep::analyzer::run
