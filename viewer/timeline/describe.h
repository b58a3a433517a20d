// An item in words: what the tooltip and the details panel show. Every figure is the analysis' own; formats
// are the report's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

struct Fact {
  std::string label;
  std::string value;
  std::string note = {};  // what the report's JSON calls the value, where that is a code
};

struct Description {
  std::string title;
  std::vector<Fact> facts;
};

Description describe(const Scene& scene, const Item& item);
// The same in a few lines, for beside the pointer: what it is, how long, and of a collective who waited for
// whom.
Description summarize(const Scene& scene, const Item& item);
// A fold: how many, how dense, and what it holds most of.
Description describe_fold(const Scene& scene, std::uint32_t rank, const RowPlace& place,
                          const FoldedBox& box);
// What a counter says at an instant.
Description describe_counter(const Scene& scene, std::uint32_t rank, const RowPlace& place, Nanoseconds time);
// Of a rank in a run without times (Scene::order_alone): where it stands, in full.
Description describe_standing(const Scene& scene, std::uint32_t rank);
// One operation over all ranks, the last arriver first; its participants are in collective_rows().
Description describe_collective(const Scene& scene, std::uint32_t collective);

// One participant, as cells of a table.
struct CollectiveRow {
  std::uint32_t rank_index = 0;               // Timeline::ranks
  std::uint32_t activity = 0;                 // RankTrace::activities
  std::string rank, arrival, wait, transfer;  // arrival: after the first arrival
  bool last = false;                          // the last arriver
  double wait_share = 0;                      // of the longest time that a participant spent, for a bar
  double transfer_share = 0;
};
// The title of CollectiveRow::transfer: by the same rule as cause_label().
const char* transfer_title(bool waits_known);
std::vector<CollectiveRow> collective_rows(const Scene& scene, std::uint32_t collective);

// A cause by name. Transfer is "communication" on a rank of which nobody knows what of it was waiting.
const char* cause_label(const Scene& scene, std::size_t rank, analyzer::Cause cause);
const char* cause_label(analyzer::Cause cause, bool waits_known);

// How an operation's records were found to be one, of what the report says as a code; a code that is not
// known stays.
std::string evidence_in_words(std::string_view code);

// "12,345,678 ns" with the rounded duration before it: "12.3 ms = 12,345,678 ns".
std::string exact_duration(std::int64_t ns);

}  // namespace lockstep::viewer
