#include "analyzer/diagnose/job_endings.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/model/hang_length.h"

namespace lockstep::analyzer {
Nanoseconds last_sign(const RankTrace& rank) {
  Nanoseconds last = rank.ending.recorded_until;
  for (const StepMark& step : rank.steps) last = std::max(last, step.end);
  if (!rank.activities.empty()) last = std::max(last, rank.activities.back().end);
  return last;
}

bool may_have_run_until(const RankTrace& rank, Nanoseconds time) {
  const Nanoseconds last = last_sign(rank);
  return last != kUnknownTime && last + (rank.ending.closed ? 0 : kLastFlush) >= time;
}

std::size_t first_to_end(const Job& job) {
  std::size_t first = kNone;
  for (std::size_t i = 0; i < job.ranks.size(); ++i)
    if (first == kNone || last_sign(job.ranks[i]) < last_sign(job.ranks[first])) first = i;
  if (first == kNone || last_sign(job.ranks[first]) == kUnknownTime) return kNone;
  const Ending& ending = job.ranks[first].ending;
  const Nanoseconds end = last_sign(job.ranks[first]) + (ending.closed ? 0 : kLastFlush);
  for (std::size_t i = 0; i < job.ranks.size(); ++i)
    if (i != first && last_sign(job.ranks[i]) <= end) return kNone;
  return first;
}

bool ended_by_interruption(const Job& job) {
  if (!job.end.interrupted_by || (!job.end.signal && job.end.exit_code.value_or(0) == 0)) return false;
  const std::size_t first = first_to_end(job);
  if (first == kNone || job.ranks.size() < 2) return true;
  const Ending& ending = job.ranks[first].ending;
  return ending.interrupted == kUnknownTime ||
         last_sign(job.ranks[first]) + (ending.closed ? 0 : kLastFlush) >
             ending.interrupted - kLongBeforeInterruption;
}

bool is_said_to_have_hung(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.alarm == Alarm::hang; });
}

std::string signal_in_words(std::int32_t signal) {
  switch (signal) {
    case 1:
      return "SIGHUP, as its terminal closed";
    case 2:
      return "Ctrl-C (SIGINT)";
    case 3:
      return "SIGQUIT";
    case 15:
      return "SIGTERM";
    default:
      return fmt::format("signal {}", signal);
  }
}

}  // namespace lockstep::analyzer
