// Planted faults: real causes of waiting, for teaching and for testing what the analyzer says of them.
//
// On the command line a fault is KIND[:KEY=VALUE,…], for example `--fault
// slow_loader:rank=1,ms=30,steps=3-5`:
//
//   kind             keys                       what happens
//   slow_rank        rank, factor (2)           the rank computes `factor` times as long
//   slow_stage       stage, factor (2)          every rank of this pipeline stage does
//   slow_loader      [rank], ms (50)            its batches come so much later
//   pause            [rank], ms (50)            it stops once a step, at a seeded place, as for garbage
//   collection uneven_batch     [rank], factor (2)         its samples have 1 to `factor` times the usual
//   length, seeded delayed_launch   [rank], us (500)           each computation is started so much later
//   skip_collective  rank                       it leaves out one collective; the others wait in vain
//   slow_link        [rank], mbit (100)         what it sends goes out at this rate, in Mbit/s
//
// All take steps=A-B, or steps=A for one (default: all steps). Where rank is in brackets it may be left out,
// for all ranks. Numbers in parentheses stand in for what is left out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep::trainer {

enum class FaultKind : std::uint8_t {
  slow_rank,
  slow_stage,
  slow_loader,
  pause,
  uneven_batch,
  delayed_launch,
  skip_collective,
  slow_link,
};
inline constexpr int kFaultKinds = 8;

struct Fault {
  FaultKind kind = FaultKind::slow_rank;
  std::optional<int> place;  // rank, or stage for slow_stage; nothing: all ranks
  double amount = 0;         // factor, ms, us or mbit, as the kind has it; 0 for skip_collective
  std::int64_t first_step = 1;
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();

  bool holds_in(std::int64_t step) const { return first_step <= step && step <= last_step; }
  bool operator==(const Fault&) const = default;
};

// What is wrong is said with the specification, the key, the value and what is allowed.
Result<Fault> parse_fault(std::string_view specification);

// A specification that parses to the same fault.
std::string to_string(const Fault& fault);
const char* to_string(FaultKind kind);

// What a fault alone cannot tell: that there is such a rank or stage. One that never comes is no teaching
// aid.
Status check_fault(const Fault& fault, int world_size, int stages);

// For --help: one line a kind.
std::string describe_faults();

}  // namespace lockstep::trainer
