// Jobs of which it is known whether ranks are given the same to compute: rows of the accuracy table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/model/job.h"
#include "tests/accuracy/noise.h"

namespace lockstep::accuracy {

// What is true of the work that ranks are given, and so all that a report may say of it.
enum class Work : std::uint8_t {
  even,     // all have the same
  more,     // the late ranks have more than the others
  uneven,   // other ranks have more in other steps
  less,     // the last rank has less than the others: nobody is late
  besides,  // the late ranks run kernels that the others do not, besides the same
};
std::string_view to_string(Work work);

struct WorkCase {
  std::string_view what;  // the row's name
  Work work = Work::even;
  std::int32_t ranks = 4;
  // So many of the last ranks compute longer from the first step to the last.
  std::int32_t late = 0;
  analyzer::Job (*make)(Random& random, std::int32_t ranks) = nullptr;
  // The sizes of its kernels do not tell: a report is right without a word about work.
  bool is_hidden = false;
  // The last rank computes for less time than the others: that may be said of it, and of no other.
  bool is_early = false;
};

std::span<const WorkCase> work_cases();

}  // namespace lockstep::accuracy
