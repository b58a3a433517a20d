// A kind of finding: all that its findings share. Each kind, or family of kinds that one rule makes, stands
// in one file of analyzer/diagnose/kinds/ with its rule and its explanation, and in the list of
// finding_rules.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct FindingContext;

struct Remedy {
  std::string_view where;  // "DDP", "FSDP", "DeepSpeed", "Megatron", "NCCL", "the program", …
  std::string_view what;   // the setting as it is written there, and what it does
};

// What `lockstep explain CODE` and a page of docs/findings/ say of a kind; no other page repeats it. Kinds
// that differ by degree alone share one.
struct Explanation {
  std::string_view meaning;
  std::string_view found;      // conditions and thresholds, of measures that docs/metrics.md defines
  std::string_view wrong;      // what in the trace would show that it does not hold
  std::string_view lost = {};  // what is counted as lost; empty if nothing is
  std::span<const Remedy> remedies = {};
};

// What it says after the meaning, in the order in which it is read: "found", "wrong if", "lost". What is
// empty is left out.
struct ExplanationPart {
  const char* heading;
  std::string_view text;
};
std::vector<ExplanationPart> parts_of(const Explanation& explanation);

enum class SeverityRule : std::uint8_t {
  by_loss,  // of the share of all ranks' time; a finding may be a note all the same (Finding::is_note)
  high,
  medium,
  note,
};

// Where in the timeline a finding is seen best.
enum class PointsAt : std::uint8_t {
  nothing,
  place_of_its_own,  // the rule sets Finding::place
  worst_operation,   // in which most of its cause's time went by; the worst step where there is none
  worst_step,        // in which a rank spends most time of its cause
};

// Whether findings of a kind account for their cause's time. What is left of a cause gets a finding of its
// own only where those that account for it explain less than half.
enum class Accounts : std::uint8_t {
  no,
  yes,
  within_hosts,  // not where most transfer crosses hosts: a slow link stays worth a word then
};

struct FindingKind {
  std::string_view code;  // Finding::code
  // One line: what it is called, and the title of its findings unless the rule has figures or names to say.
  std::string_view title;
  SeverityRule severity = SeverityRule::by_loss;
  Alarm alarm = Alarm::none;
  std::optional<Cause> cause = std::nullopt;  // whose time the loss is a part of
  Accounts accounts = Accounts::no;
  Accused accuses = Accused::nobody;
  PointsAt points_at = PointsAt::nothing;
  // What is drawn beside it on the web page: the name of a file of analyzer/html/pictures/. Where the report
  // lacks what that shows, and where it is empty: the cause's bars, if there is a cause.
  std::string_view picture = {};
  Operation bucket_operation = Operation::unknown;  // of the picture "buckets"
  // Says that compute hides no communication, and what to do: no_overlap need not say it too.
  bool says_nothing_is_hidden = false;
  Share share = Share::of_steady;
  Topic topic = Topic::other;
  const Explanation* explanation = nullptr;

  // A finding of this kind, under its title and without evidence, remedy or loss.
  Finding make() const;
  // The same kind under another code: one that differs by degree.
  constexpr FindingKind with_code(std::string_view other) const {
    FindingKind kind = *this;
    kind.code = other;
    return kind;
  }
};

// Whether a finding is of this kind.
bool is_of(const Finding& finding, const FindingKind& kind);
bool any_of_kind(const std::vector<Finding>& findings, const FindingKind& kind);

// What finds the kinds of one file. It adds what it finds with lost_ns, and sees what the rules before it
// have found; severity, share and place are filled in later.
struct FindingRule {
  std::span<const FindingKind* const> kinds;
  void (*find)(const FindingContext& context, std::vector<Finding>& findings);
};

}  // namespace lockstep::analyzer
