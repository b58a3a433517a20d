#include "analyzer/html/evidence.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <string_view>

namespace lockstep::analyzer {
namespace {

using Kind = DrawnEvidence::Kind;

// What a finding of this code is about, and the cause that it is one of, should the report lack the former.
struct Subject {
  Kind kind = Kind::cause;
  Cause cause = Cause::other;
  Operation operation = Operation::unknown;  // of buckets
};

const std::map<std::string_view, Subject>& subjects() {
  static const std::map<std::string_view, Subject> kSubjects{
      {"straggler", {Kind::arrival, Cause::barrier_wait}},
      {"straggler_persistent", {Kind::arrival, Cause::barrier_wait}},
      {"straggler_transient", {Kind::arrival, Cause::barrier_wait}},
      {"straggler_periodic", {Kind::arrival, Cause::barrier_wait}},
      {"slow_link_of_rank", {Kind::arrival, Cause::barrier_wait}},
      {"unbalanced_stages", {Kind::stages, Cause::pipeline_bubble}},
      {"uneven_batches", {Kind::batches, Cause::barrier_wait}},
      {"buckets_too_large", {Kind::buckets, Cause::transfer, Operation::all_reduce}},
      {"buckets_too_small", {Kind::buckets, Cause::transfer, Operation::all_reduce}},
      {"first_bucket_late", {Kind::buckets, Cause::transfer, Operation::all_reduce}},
      {"prefetch_off", {Kind::buckets, Cause::transfer, Operation::all_gather}},
      {"prefetch_shallow", {Kind::buckets, Cause::transfer, Operation::all_gather}},
      {"all_gathers_throttled", {Kind::buckets, Cause::transfer, Operation::all_gather}},
      {"sharding_not_needed", {Kind::buckets, Cause::transfer, Operation::all_gather}},
      {"reduce_scatter_exposed", {Kind::buckets, Cause::transfer, Operation::reduce_scatter}},
      {"no_overlap", {Kind::cause, Cause::transfer}},
      {"slow_link", {Kind::cause, Cause::transfer}},
      {"tensor_parallel_across_hosts", {Kind::cause, Cause::transfer}},
      {"p2p_slow_path", {Kind::cause, Cause::transfer}},
      {"exposed_transfer", {Kind::cause, Cause::transfer}},
      {"exposed_communication", {Kind::cause, Cause::transfer}},
      {"imbalance", {Kind::cause, Cause::barrier_wait}},
      {"pipeline_bubble", {Kind::cause, Cause::pipeline_bubble}},
      {"data_loading", {Kind::cause, Cause::data_wait}},
      {"host_bound", {Kind::cause, Cause::host_bound}},
      {"idle_between_computations", {Kind::cause, Cause::host_bound}},
      {"idle_without_launches", {Kind::cause, Cause::host_bound}},
      {"exposed_copies", {Kind::cause, Cause::copy}},
      {"queued", {Kind::cause, Cause::queued}},
      {"unexplained_idle", {Kind::cause, Cause::other}},
  };
  return kSubjects;
}

// The first rank that the finding's title names.
std::optional<std::int32_t> rank_in(const std::string& title) {
  static const std::regex kRank(R"(\brank (\d{1,9})\b)");
  std::smatch match;
  if (!std::regex_search(title, match, kRank)) return std::nullopt;
  return std::stoi(match[1]);
}

// The operation in which most is waited for this rank.
std::optional<std::size_t> worst_collective(const Report& report, std::int32_t rank) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < report.collectives.size(); ++i) {
    const CollectiveReport& one = report.collectives[i];
    if (one.last_arriver != rank || one.ranks.size() < 2) continue;
    if (!worst || one.wait_ns > report.collectives[*worst].wait_ns) worst = i;
  }
  return worst;
}

std::optional<std::size_t> pipeline_with(const Report& report, std::int32_t rank) {
  for (std::size_t i = 0; i < report.pipeline.size(); ++i) {
    const std::vector<PipelineStage>& stages = report.pipeline[i].stages_detail;
    if (std::any_of(stages.begin(), stages.end(),
                    [rank](const PipelineStage& stage) { return stage.rank == rank; }))
      return i;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(Kind kind) {
  static constexpr std::array<const char*, 6> kNames{"none",    "arrival", "stages",
                                                     "buckets", "batches", "cause"};
  return kNames[static_cast<std::size_t>(kind)];
}

DrawnEvidence evidence_of(const Finding& finding, const Report& report) {
  const auto found = subjects().find(finding.code);
  if (found == subjects().end()) return {};
  const Subject& subject = found->second;
  DrawnEvidence drawn;
  drawn.cause = subject.cause;
  drawn.kind = Kind::cause;
  const std::optional<std::int32_t> rank = rank_in(finding.title);
  if (subject.kind == Kind::arrival && rank) {
    if (const auto worst = worst_collective(report, *rank)) {
      drawn.kind = Kind::arrival;
      drawn.collective = *worst;
      drawn.rank = *rank;
    }
  } else if (subject.kind == Kind::stages && rank) {
    if (const auto pipeline = pipeline_with(report, *rank)) {
      drawn.kind = Kind::stages;
      drawn.pipeline = *pipeline;
      drawn.rank = *rank;
    }
  } else if (subject.kind == Kind::buckets) {
    const auto bucket =
        std::find_if(report.buckets.begin(), report.buckets.end(),
                     [&](const BucketReport& one) { return one.operation == subject.operation; });
    if (bucket != report.buckets.end()) {
      drawn.kind = Kind::buckets;
      drawn.bucket = static_cast<std::size_t>(bucket - report.buckets.begin());
    }
  } else if (subject.kind == Kind::batches && !report.steps.empty()) {
    drawn.kind = Kind::batches;
  }
  return drawn;
}

std::vector<Standing> standings_of(const Finding& finding) {
  std::vector<Standing> standings;
  if (finding.code != "hang") return standings;
  static const std::regex kStands(R"(ranks? ([\d, ]+) (waits? in|is in|are in|issued) (.*))");
  static const std::regex kHungIn(R"(hung in (.*?): )");
  static const std::regex kNumber(R"(\d{1,9})");
  std::smatch match;
  const std::string hung_in = std::regex_search(finding.title, match, kHungIn) ? match[1].str() : "it";
  for (const std::string& line : finding.evidence) {
    if (!std::regex_match(line, match, kStands)) continue;
    Standing standing{{}, match[2], match[3]};
    const std::string ranks = match[1];
    for (std::sregex_iterator number(ranks.begin(), ranks.end(), kNumber), end; number != end; ++number)
      standing.ranks.push_back(std::stoi(number->str()));
    if (standing.where == "it") standing.where = hung_in;
    standings.push_back(std::move(standing));
  }
  return standings;
}

}  // namespace lockstep::analyzer
