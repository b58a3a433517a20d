// What a stretch of a row mostly is, where its events are too short to show apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "analyzer/model/job.h"
#include "viewer/timeline/folding.h"

namespace lockstep::viewer {

// Walks over one fold from its begin to its end.
class PrevailingClass {
 public:
  // `row`: of activities, with the fold in it; both outlive it.
  PrevailingClass(const Row& row, std::span<const analyzer::Activity> activities, const FoldedBox& box)
      : row_(row), activities_(activities), box_(box), at_(box.first) {}

  // The class that runs at most of `samples` instants spread evenly between two times; nothing where none
  // runs at any of them. The times of each call are not before those of the last. A host's synchronisation
  // (Class::sync), which leaves the device free, only counts where nothing else runs. An event counts by how
  // long it is, not once: one long transfer among many short kernels is as much as it takes of the time.
  std::optional<analyzer::Class> within(Nanoseconds begin, Nanoseconds end, int samples);

 private:
  // The event that runs at `time`, if any does.
  std::optional<std::size_t> running_at(Nanoseconds time);

  const Row& row_;
  std::span<const analyzer::Activity> activities_;
  FoldedBox box_;
  std::size_t at_;          // the last event that has begun
  std::size_t stride_ = 1;  // how far the last search went
};

}  // namespace lockstep::viewer
