// Ranks disagree about an operation that they do together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/hang_arguments.h"
#include "analyzer/diagnose/hang_sentences.h"
#include "analyzer/diagnose/hang_words.h"
#include "analyzer/diagnose/open_mismatches.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kMismatchedCollectivesRemedies = std::to_array<Remedy>(
    {{"the program",
      "the same collectives in the same order on every rank: a branch that some take, shapes that depend on "
      "data"},
     {"PyTorch", "TORCH_DISTRIBUTED_DEBUG=DETAIL checks each collective as it is issued"}});
constexpr Explanation kMismatchedCollectivesExplained{
    .meaning =
        "Records that belong together by group and number differ in operation, size or type. NCCL would "
        "hang, or mix up data without a word.",
    .found =
        "Any such record. Sizes of all-to-alls and of uneven gathers may differ, and are not compared. An "
        "operation that a rank never ended is compared as well, with what the other ranks of the group have "
        "under the same recorded number, ended or not: the operation, and the size of all-reduces, "
        "broadcasts and reductions; what `hang` says of it is not said again. The finding stands before all other findings where two ranks disagree under one recorded number and neither got "
        "any further in the group: then the job hung or failed by that.",
    .wrong = "The traces are of different runs, or numbers were given by order alone.",
    .remedies = kMismatchedCollectivesRemedies,
};
constexpr FindingKind kMismatchedCollectives{
    .code = "mismatched_collectives",
    .title = "ranks disagree about an operation",
    .severity = SeverityRule::high,
    .alarm = Alarm::mismatch,
    .accuses = Accused::job,
    .explanation = &kMismatchedCollectivesExplained,
};
constexpr auto kMismatchedCollectivesKinds = std::to_array<const FindingKind*>({&kMismatchedCollectives});

constexpr std::size_t kExamples = 3;

std::string describe_record(const Job& job, MatchRecord record) {
  const Communication& communication = communication_of(job, record);
  std::string text =
      fmt::format("rank {} {}", job.ranks[record.rank].rank, trace::to_string(communication.operation));
  if (communication.bytes >= 0) text += fmt::format(" of {} B", communication.bytes);
  if (communication.data_type != DataType::unknown)
    text += fmt::format(" {}", trace::to_string(communication.data_type));
  return text;
}

std::string describe(const Diagnosis& diagnosis, const Contradiction& contradiction) {
  const std::string& group = diagnosis.matching.groups[contradiction.group].name;
  const bool numbered =
      contradiction.evidence == Evidence::sequence || contradiction.evidence == Evidence::function_sequence;
  return fmt::format("{}, {} {}: {}, {}", group.empty() ? "all ranks" : "group " + group,
                     numbered ? "sequence number" : "in order number", contradiction.position,
                     describe_record(diagnosis.job, contradiction.one),
                     describe_record(diagnosis.job, contradiction.other));
}

// "in step 3", or between steps "after step 3", by the rank's own marks; empty without any.
std::string when(const Job& job, const NumberedCall& call) {
  std::string text;
  for (const StepMark& step : job.ranks[call.rank].steps) {
    if (step.begin > call.begin) break;
    text = fmt::format("{} step {}", call.begin < step.end ? "in" : "after", step.number);
  }
  return text;
}

// "all_reduce of 4 B, which never ended"
std::string describe_call(const NumberedCall& call) {
  std::string text = trace::to_string(call.operation);
  if (call.bytes > 0) text += fmt::format(" of {} B", call.bytes);
  return text + (call.open ? ", which never ended" : "");
}

// "group dp, sequence number 3, after step 30: rank 0 all_reduce of 4 B, which never ended; rank 1 …"
std::string describe(const Diagnosis& diagnosis, const OpenMismatch& mismatch) {
  struct Part {
    std::string call;
    std::vector<std::int32_t> ranks;
  };
  const Job& job = diagnosis.job;
  const std::string time = when(job, mismatch.calls.front());
  const bool same_time = std::all_of(mismatch.calls.begin(), mismatch.calls.end(),
                                     [&](const NumberedCall& call) { return when(job, call) == time; });
  std::vector<Part> parts;
  for (const NumberedCall& call : mismatch.calls) {
    std::string text = describe_call(call);
    if (const std::string its = when(job, call); !same_time && !its.empty()) text += " (" + its + ")";
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Part& other) { return other.call == text; });
    if (part == parts.end()) part = parts.insert(parts.end(), Part{std::move(text), {}});
    part->ranks.push_back(job.ranks[call.rank].rank);
  }
  const std::string& group = diagnosis.matching.groups[mismatch.group].name;
  std::string text =
      fmt::format("{}, sequence number {}{}{}:", group.empty() ? "all ranks" : "group " + group,
                  mismatch.sequence, same_time && !time.empty() ? ", " : "", same_time ? time : "");
  constexpr std::size_t kMost = 4;
  for (std::size_t i = 0; i < std::min(kMost, parts.size()); ++i)
    text += fmt::format("{} {} {}", i > 0 ? ";" : "", hang::named(parts[i].ranks), parts[i].call);
  return parts.size() > kMost ? text + "; …" : text;
}

// Without those of which a finding of a hang says that ranks disagree: it is about the same.
std::vector<OpenMismatch> open_mismatches(const FindingContext& context) {
  const Job& job = context.diagnosis.job;
  std::vector<OpenMismatch> found = find_open_mismatches(job, context.diagnosis.matching);
  if (found.empty()) return found;
  const std::vector<std::uint32_t>& of_job_group = context.diagnosis.matching.groups_of_records.of_job_group;
  for (const auto& [key, hung] : find_hung_operations(job)) {
    if (key.is_message() || key.group >= of_job_group.size()) continue;
    if (hang::describe_disagreement(job, key, hung).empty() &&
        hang::find_other_arguments(job, key, hung).about.empty())
      continue;
    std::erase_if(found,
                  [&, group = of_job_group[key.group], number = key.sequence](const OpenMismatch& one) {
                    return one.group == group && one.sequence == number;
                  });
  }
  return found;
}

// What a record is, whatever its place: operation, size, type.
using Call = std::tuple<Operation, std::int64_t, DataType>;

std::vector<Call> calls_in_group(const Job& job, MatchRecord record) {
  const std::uint32_t group = communication_of(job, record).group;
  std::vector<Call> calls;
  for (const Communication& one : job.ranks[record.rank].communications)
    if (one.group == group) calls.emplace_back(one.operation, one.bytes, one.data_type);
  std::sort(calls.begin(), calls.end());
  return calls;
}

// Whether the two ranks call the same operations in the group, and so call them in different order.
bool is_other_order(const Job& job, const Contradiction& contradiction) {
  return calls_in_group(job, contradiction.one) == calls_in_group(job, contradiction.other);
}

// Nobody got any further in the group: what ended the job, or made it hang, is this. Recorded numbers alone
// tell it: by order, the traces may begin at different operations.
bool is_first_cause(const Job& job, const Contradiction& contradiction) {
  if (contradiction.evidence != Evidence::sequence) return false;
  const auto got_further = [&](MatchRecord record) {
    const std::uint32_t group = communication_of(job, record).group;
    const RankTrace& rank = job.ranks[record.rank];
    return std::any_of(rank.communications.begin(), rank.communications.end(), [&](const Communication& one) {
      return one.group == group && one.sequence > contradiction.position;
    });
  };
  return !got_further(contradiction.one) && !got_further(contradiction.other);
}

void find_mismatches(const FindingContext& context, std::vector<Finding>& findings) {
  const std::vector<Contradiction>& contradictions = context.diagnosis.matching.contradictions;
  const std::vector<OpenMismatch> open = open_mismatches(context);
  const std::size_t count = contradictions.size() + open.size();
  if (count == 0) return;
  Finding finding = kMismatchedCollectives.make();
  finding.title = fmt::format("ranks disagree about {} they do together",
                              count == 1 ? "an operation that" : fmt::format("{} operations that", count));
  // Before the hang or the error that it led to.
  const bool is_open_cause =
      std::any_of(open.begin(), open.end(), [](const OpenMismatch& one) { return one.nobody_got_further; });
  const auto add_finding = [&] {
    const bool is_cause = is_open_cause || std::any_of(contradictions.begin(), contradictions.end(),
                                                       [&](const Contradiction& c) {
                                                         return is_first_cause(context.diagnosis.job, c);
                                                       });
    findings.insert(is_cause ? findings.begin() : findings.end(), std::move(finding));
  };
  for (std::size_t i = 0; i < std::min(kExamples, open.size()); ++i)
    finding.evidence.push_back(describe(context.diagnosis, open[i]));
  const std::size_t examples = std::min(kExamples - finding.evidence.size(), contradictions.size());
  for (std::size_t i = 0; i < examples; ++i) {
    finding.evidence.push_back(describe(context.diagnosis, contradictions[i]));
  }
  if (is_open_cause) {
    finding.remedy =
        "one of the ranks left an operation out, made one too many, or gave it another size: look for a "
        "branch, a `continue` or an exception handler that only some ranks take, and for shapes that depend "
        "on data; TORCH_DISTRIBUTED_DEBUG=DETAIL checks each collective as it is issued";
    add_finding();
    return;
  }
  const bool by_order =
      open.empty() && std::all_of(contradictions.begin(), contradictions.end(), [](const Contradiction& c) {
        return c.evidence == Evidence::order || c.evidence == Evidence::order_all_ranks;
      });
  const bool other_order =
      open.empty() &&
      std::all_of(contradictions.begin(), contradictions.begin() + static_cast<std::ptrdiff_t>(examples),
                  [&](const Contradiction& c) { return is_other_order(context.diagnosis.job, c); });
  if (other_order) {
    finding.title = fmt::format("ranks call the same operations in different order, {} of them",
                                format_count(static_cast<std::int64_t>(contradictions.size())));
    finding.remedy =
        "call a group's collectives in the same order on every rank: look for branches that depend on the "
        "rank or on data, and for hooks that fire in another order; DDP(static_graph=True) or "
        "DDP(find_unused_parameters=True) where parameters go unused";
    add_finding();
    return;
  }
  finding.remedy =
      by_order ? "record all ranks over the same steps; if they were, run with "
                 "TORCH_DISTRIBUTED_DEBUG=DETAIL, which checks each collective's shape over ranks"
               : "run with TORCH_DISTRIBUTED_DEBUG=DETAIL, which checks each collective's shape over ranks";
  add_finding();
}

}  // namespace

const FindingRule rules::mismatched_collectives{kMismatchedCollectivesKinds, find_mismatches};

}  // namespace lockstep::analyzer
