// Which kernels of a pipeline's stage are of its forward and backward passes: by the host ranges in which
// they were launched.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/import/rank/passes.h"
#include "analyzer/model/job.h"
#include "trace/reader.h"

namespace lockstep::analyzer::run {

// Ranges that the recorder notes of PyTorch (`forward`, `backward` of its domain), and those by which
// Megatron, DeepSpeed and PyTorch name a microbatch's pass (analyzer/import/rank/passes.h).
class DevicePasses {
 public:
  explicit DevicePasses(const trace::Reader& reader) : reader_(reader) {}

  // Cheap for all other ranges: a name is looked at once.
  void take(const trace::HostRange& range);
  // Of a rank that computes on a GPU and exchanges messages; of others nothing changes. Precondition:
  // finish().
  void give(RankTrace& trace) &&;

 private:
  std::optional<NamedPass> pass_of(trace::StringId name, trace::StringId domain) const;

  const trace::Reader& reader_;
  std::unordered_map<std::uint64_t, std::optional<NamedPass>> known_;  // by name and domain
  std::vector<PassRange> ranges_;
};

}  // namespace lockstep::analyzer::run
