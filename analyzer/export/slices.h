// What a timeline shows of one rank, as both timeline formats need it: tracks of properly nested slices, each
// with a name, a category and arguments. Internal to this library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/model/job.h"

namespace lockstep::analyzer {

enum class SliceKind : std::uint8_t { cause, step, activity, host_range };

struct Slice {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::uint32_t index = 0;  // into what `Track::kind` names
};

// Slices sorted by (begin, -end); any two are nested or do not overlap.
struct Track {
  std::string name;
  SliceKind kind = SliceKind::activity;
  std::vector<Slice> slices;
};

using ArgumentValue = std::variant<std::int64_t, double, bool, std::string_view>;

// Place of a slice in the arrow that joins the ranks of one collective, in order of arrival.
enum class FlowPlace : std::uint8_t { none, first, middle, last };

struct SliceDetails {
  std::string_view name;  // into the job, static strings or `text`
  std::string text;
  std::string_view category;
  std::vector<std::pair<const char*, ArgumentValue>> arguments;
  FlowPlace flow = FlowPlace::none;
  std::uint64_t flow_id = 0;  // the same on all ranks, 1 and above
};

// The whole job as a timeline. Holds views: `job` and `analysis` must outlive it.
class Timeline {
 public:
  Timeline(const Job& job, const Analysis& analysis);

  const Job& job() const { return job_; }

  // The tracks of one rank, in the order in which they should stand: causes, steps, device lanes, host
  // threads. A lane whose slices overlap without nesting becomes several tracks ("stream 7", "stream 7 (2)"):
  // neither format can say otherwise.
  std::vector<Track> tracks_of_rank(std::size_t rank_index) const;

  // The earliest instant of all tracks of all ranks; 0 if there is nothing.
  Nanoseconds earliest_time() const;

  // Fills `details`, reusing its memory.
  void describe(std::size_t rank_index, SliceKind kind, const Slice& slice, SliceDetails& details) const;

 private:
  void describe_activity(std::size_t rank_index, std::uint32_t index, SliceDetails& details) const;
  void describe_communication(std::size_t rank_index, const Activity& activity, SliceDetails& details) const;

  // Who arrives first and last at a collective: where its arrow begins and ends.
  struct Ends {
    const CollectiveRank* first = nullptr;
    const CollectiveRank* last = nullptr;
  };

  const Job& job_;
  const Analysis& analysis_;
  std::vector<Ends> flows_;  // of each collective; empty for fewer than two ranks
  std::vector<std::vector<std::uint32_t>> steps_of_rank_;  // indices into the report's steps
};

// "rank 3, node-b, cuda:1"
std::string name_of_rank(const RankTrace& rank);

}  // namespace lockstep::analyzer
