// The first picture of a run that is still being read: when each rank's lanes recorded how much. Of a run of
// ours it comes from the index at the end of each trace file, so that it is there at once whatever the files'
// size; of other formats from the ranks that have been read so far. Nothing in it is analyzed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/events/event.h"

namespace lockstep::analyzer {
struct RankImport;
}

namespace lockstep::viewer {

struct PreviewSpan {
  trace::Nanoseconds begin = 0;  // since the first event of the same clock
  trace::Nanoseconds end = 0;
  std::uint64_t events = 0;
};

struct PreviewRank {
  std::int32_t rank = 0;
  std::string host;
  std::vector<PreviewSpan> computing;      // of streams and of threads that compute; by begin
  std::vector<PreviewSpan> communicating;  // of lanes that run collectives; by begin
};

struct RunPreview {
  std::vector<PreviewRank> ranks;  // by rank
  trace::Nanoseconds length = 0;
  std::uint64_t events = 0;
};

// One rank, before the others are known. Times as its clock read them.
struct RankPreview {
  PreviewRank rank;
  std::string clock;
  trace::Nanoseconds first = std::numeric_limits<trace::Nanoseconds>::max();  // of its events
};

// Clocks of different names are laid begin on begin: that is not their alignment, which takes the events.
RunPreview assemble(std::vector<RankPreview> ranks);

// Of a rank that has just been read; at most kPreviewWindows spans a kind.
RankPreview preview_of(const analyzer::RankImport& rank);
inline constexpr std::size_t kPreviewWindows = 512;

// Of a run folder. Files that cannot be read are left out; the run's opening says why. `stop` is asked
// between files; true: what there is by then. Errors: not a run of ours, nothing in it can be read.
Result<RunPreview> preview_of(const std::string& path, const std::function<bool()>& stop = {});

// Events per column of `columns` equal ones over [0, length), spread evenly over each span.
std::vector<double> events_by_column(const std::vector<PreviewSpan>& spans, trace::Nanoseconds length,
                                     std::size_t columns);

}  // namespace lockstep::viewer
