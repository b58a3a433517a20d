// Why a rank that is late is late: in words, with what shows it and what to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_context.h"
#include "analyzer/lateness/late_parts.h"
#include "analyzer/lateness/step_table.h"

namespace lockstep::analyzer {

inline constexpr std::string_view kWaitsForCore = "waits_for_core";
inline constexpr std::string_view kComputesLonger = "computes_longer";

struct LateReason {
  std::string code = "unknown";  // Finding::reason
  std::string doing;  // "computes 18.0 % longer, above all in `layer 3`"; of an unknown one "comes late"
  std::vector<std::string> evidence;
  std::string remedy;  // where it is not known: what to record
  // The cause that it comes of; absent where it is not known.
  std::optional<LatePart> part;
  // How long a step it does so longer, where that is another time than the cause's (`blocked`).
  std::optional<std::int64_t> ns;
  ComparedParts parts;  // where it computes longer
  // A part of the model takes it three fifths longer, or more: a slower process takes longer in all of them.
  bool names_part = false;
  bool names_line = false;      // of Python, in which it does so: more than the delay analysis knows
  bool is_alone_there = false;  // at that line: the others were seen there a quarter as often, at most
  std::int64_t alone_ns = 0;    // how much longer in a step it is there than the others, where it is alone
  std::string line;             // of Python, wherever one is named: "`step (env.py:13)`"
};

// Of a rank that judge_lateness found late. Codes:
//   computes_longer   the same work, as far as is known, takes it longer
//   more_work         it is given more to compute: a counter or its kernels' sizes or number say so
//   other_kernels     it runs kernels that most others do not, which take as long as it is late by
//   clocks_lower      its GPU's clock is lower while it computes, which explains half of it at least
//   more_launches     its host has more to launch: kernels, or graphs of them
//   waits_for_core    its training threads are ready to run and have no core
//   blocked           its training threads sleep or are blocked inside of what should compute
//   loads_data        it waits for data longer
//   host              its host launches late, or does something else (of a CPU)
//   copies            it copies memory longer
//   queued            what it launched starts late
//   link              its part of operations that others carry out at the same size takes longer
//   more_data         its operations carry more than the others'
//   unknown           no one or two causes explain half of it in most blocks of steps
// Over the table's steps, which are all of the context's or some of them. Where two causes hold it up, both
// are said.
LateReason reason_of(const FindingContext& context, const StepTable& steps, const RankLateness& late);

}  // namespace lockstep::analyzer
