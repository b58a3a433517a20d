// What repeats in a rank's launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::analyzer {

inline constexpr std::size_t kLeastRepetitions = 5;

struct Repetition {
  std::vector<std::size_t>
      begins;           // of each stretch that counts as a step, indices into the sequence, ascending
  std::size_t end = 0;  // of the last one
};

// `sequence`: what was launched, in order; equal numbers are equal launches. The stretches from one
// occurrence of an element to the next are compared as multisets. The rarest element, of those that occur
// five times or more, whose stretches of two launches or more are equal in 80 % of the cases, where these
// hold 80 % of the sequence. Rarest: the layers of a model repeat within its step. Stretches that differ (a
// checkpoint, an evaluation) are steps too; what lies behind the last occurrence is one if it equals most.
std::optional<Repetition> find_repetition(std::span<const std::uint64_t> sequence);

}  // namespace lockstep::analyzer
