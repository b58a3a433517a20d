// The settings that remedies name: what the same knob is called in PyTorch, in DeepSpeed's configuration and
// in the reference trainer.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

// Of gradient buckets of this size. DeepSpeed counts elements: of `type`, where it is known.
std::string bucket_size_knobs(std::int64_t mebibytes, DataType type);

// What starts operations of this kind before their result is needed; "" for those that have no knob.
std::string overlap_knobs(Operation operation);
// Of every kind that takes a tenth of all transfer in this report, one after the other.
std::string overlap_knobs(const Report& report);

}  // namespace lockstep::analyzer
