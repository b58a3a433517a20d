#include "analyzer/import/kineto/profiler_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lockstep::analyzer::kineto {

void ProfilerCost::setting(std::string_view key, std::string_view json) {
  for (const std::string_view known :
       {"with_stack", "record_shapes", "profile_memory", "with_modules", "with_flops"})
    if (key == known && json != "0" && json != "false" && json != "null" &&
        std::find(settings_.begin(), settings_.end(), key) == settings_.end())
      settings_.emplace_back(key);
}

void ProfilerCost::overhead(Nanoseconds duration) {
  ++overheads_;
  if (__builtin_add_overflow(overhead_ns_, duration, &overhead_ns_)) overhead_ns_ = INT64_MAX;
}

std::string ProfilerCost::message() const {
  // Files of before the settings were written down tell by what they hold.
  std::vector<std::string> settings = settings_;
  if (python_calls_ > 0 && std::find(settings.begin(), settings.end(), "with_stack") == settings.end())
    settings.emplace_back("with_stack");
  if (settings.empty()) return {};
  std::sort(settings.begin(), settings.end());
  std::string text = fmt::format("recorded with {}", fmt::join(settings, ", "));
  if (python_calls_ > 0) text += fmt::format(" ({} Python calls written down)", python_calls_);
  if (overheads_ > 0)
    text += fmt::format("; the profiler says that it worked for {:.3f} ms itself",
                        static_cast<double>(overhead_ns_) / 1e6);
  return text +
         ": host time is in part the profiler's own, and is not the program's without it. Record without "
         "these to measure what the host costs";
}

}  // namespace lockstep::analyzer::kineto
