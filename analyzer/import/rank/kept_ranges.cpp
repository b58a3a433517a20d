#include "analyzer/import/rank/kept_ranges.h"

#include "analyzer/model/phase_names.h"
#include "analyzer/model/step_names.h"

namespace lockstep::analyzer {
namespace {

// Where each range has a name of its own ("aten::mm, op_id = 4711"), remembering them all would cost what
// leaving out the ranges saves.
constexpr std::size_t kMostKnownNames = 20'000;

}  // namespace

KeptRanges::ByName KeptRanges::by_name(std::string_view name) {
  switch (step_name(name)) {
    case StepName::optimizer:
    case StepName::pass:
    case StepName::part:
      return ByName::yes;
    case StepName::training:
      return ByName::one_of_all;
    case StepName::none:
      break;
  }
  return phase_of_range(name) ? ByName::yes : ByName::no;
}

bool KeptRanges::keeps_by_name(std::string_view name) {
  auto known = known_.find(name);
  if (known == known_.end()) {
    if (known_.size() >= kMostKnownNames) known_.clear();
    known = known_.emplace(name, by_name(name)).first;
  }
  if (known->second != ByName::one_of_all) return known->second == ByName::yes;
  if (trains_) return false;
  trains_ = true;
  return true;
}

}  // namespace lockstep::analyzer
