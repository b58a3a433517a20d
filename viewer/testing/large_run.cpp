#include "viewer/testing/large_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "viewer/prepared/prepare.h"

namespace lockstep::viewer {

namespace {

using analyzer::Activity;
using analyzer::Cause;
using analyzer::CauseSegment;
using analyzer::Class;

enum Lane : std::uint32_t { kHost, kCompute, kCopies, kNetwork };
constexpr int kNames = 60;
constexpr std::int64_t kEventsPerStep = 1000;

struct Rank {
  analyzer::RankTrace trace;
  std::vector<CauseSegment> segments;
  std::vector<std::uint32_t> collective_of;
  std::vector<analyzer::CommunicationWait> waits;
};

void add_segment(Rank& rank, Nanoseconds begin, Nanoseconds end, Cause cause) {
  if (begin >= end) return;
  if (!rank.segments.empty() && rank.segments.back().cause == cause) {
    rank.segments.back().end = end;
  } else {
    rank.segments.push_back({begin, end, cause});
  }
}

Rank make_rank(const LargeRun& run, std::int32_t number) {
  std::mt19937_64 random(static_cast<std::uint64_t>(number) + 1);
  Rank rank;
  rank.trace.rank = number;
  rank.trace.host = fmt::format("node{}", number / 8);
  rank.trace.device = "cuda:0";
  rank.trace.lanes = {{trace::LaneKind::host_thread, 1, "main"},
                      {trace::LaneKind::device_stream, 7, "stream 7"},
                      {trace::LaneKind::device_stream, 14, "stream 14"},
                      {trace::LaneKind::communication, 20, "nccl"}};
  Nanoseconds at = 0;
  Nanoseconds step_begin = 0;
  std::int64_t in_step = 0;
  std::int64_t step = 0;
  for (std::int64_t i = 0; i < run.events_per_rank; ++i) {
    const auto length = static_cast<Nanoseconds>(1'000 + random() % 39'000);
    const auto name = static_cast<std::uint32_t>(1 + random() % kNames);
    if (i % 100 == 99) {
      const auto wait = static_cast<Nanoseconds>(random() % 200'000);
      Activity activity{at, at + wait + length, at - 5'000, at - 4'000, 1 + kNames, kNetwork};
      activity.activity_class = Class::collective;
      activity.communication = static_cast<std::uint32_t>(rank.trace.communications.size());
      rank.trace.communications.push_back({static_cast<std::uint32_t>(rank.trace.activities.size()),
                                           analyzer::kNone, analyzer::Operation::all_reduce});
      rank.trace.activities.push_back(activity);
      rank.collective_of.push_back(analyzer::kNone);
      rank.waits.push_back({at + wait, analyzer::WaitKind::collective});
      add_segment(rank, at, at + wait, Cause::barrier_wait);
      add_segment(rank, at + wait, at + wait + length, Cause::transfer);
      at += wait + length;
    } else if (i % 5 == 4) {
      rank.trace.host_ranges.push_back({at, at + length, name, kHost, 0, analyzer::HostKind::other});
    } else {
      Activity activity{at, at + length, at - 9'000, at - 8'000, name, i % 20 == 3 ? kCopies : kCompute};
      if (i % 20 == 3) activity.activity_class = Class::copy;
      rank.trace.activities.push_back(activity);
      add_segment(rank, at, at + length, i % 20 == 3 ? Cause::copy : Cause::compute);
      const auto gap = static_cast<Nanoseconds>(random() % 6'000);
      add_segment(rank, at + length, at + length + gap, Cause::host_bound);
      at += length + gap;
    }
    if (++in_step == kEventsPerStep) {
      rank.trace.steps.push_back({step++, step_begin, at});
      step_begin = at;
      in_step = 0;
    }
  }
  return rank;
}

}  // namespace

bool write_large_run(const LargeRun& run, const std::filesystem::path& path) {
  Result<TablesWriter> writer = TablesWriter::create(path);
  if (!writer.ok()) {
    fmt::print(stderr, "{}\n", writer.error().message);
    return false;
  }
  analyzer::StringTable strings;
  for (int i = 0; i < kNames; ++i) strings.intern(fmt::format("void at::native::kernel_{}<float>(int)", i));
  strings.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  Preparation preparation(std::move(writer).value());
  preparation.add_strings(strings);
  analyzer::Report report;
  report.path = path.string();
  report.world_size = run.ranks;
  std::vector<analyzer::StepReport> steps;
  for (std::int32_t number = 0; number < run.ranks; ++number) {
    const Rank rank = make_rank(run, number);
    preparation.add_rank(rank.trace, {rank.segments, rank.collective_of, rank.waits, {}}, {}, 0);
    analyzer::RankReport figures;
    figures.rank = number;
    figures.measures.window_ns = rank.segments.empty() ? 0 : rank.segments.back().end;
    for (const CauseSegment& segment : rank.segments)
      figures.measures.partition[segment.cause] += segment.end - segment.begin;
    report.ranks.push_back(figures);
    report.ranks_present.push_back(number);
    if (number == 0)
      for (const analyzer::StepMark& step : rank.trace.steps) report.steps_present.push_back(step.number);
    for (const analyzer::StepMark& step : rank.trace.steps) {
      analyzer::StepReport of_step{step.number, number, step.begin, step.end, {}};
      of_step.measures.window_ns = step.end - step.begin;
      steps.push_back(of_step);
    }
  }
  std::stable_sort(
      steps.begin(), steps.end(),
      [](const analyzer::StepReport& a, const analyzer::StepReport& b) { return a.step < b.step; });
  const auto written = preparation.finish(report, steps, {}, {}, 0);
  if (!written.ok()) fmt::print(stderr, "{}\n", written.error().message);
  return written.ok();
}

}  // namespace lockstep::viewer
