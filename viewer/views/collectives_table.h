// The run's collectives as a table that is filtered and sorted: a million rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

enum class CollectiveColumn : std::uint8_t { id, step, operation, group, bytes, duration, last, wait, busbw };
inline constexpr std::size_t kCollectiveColumns = 9;
const char* title_of(CollectiveColumn column);

// One row's cell as it is shown: the formats are the report's.
std::string cell_of(const Scene& scene, const CollectiveHead& head, CollectiveColumn column);

class CollectivesTable {
 public:
  explicit CollectivesTable(const Scene& scene);

  // Words that all have to occur in operation, name, group, "step N" or "rank N" (the last arriver); case
  // does not matter. O(collectives) when something changed, else nothing.
  void set_filter(const std::string& filter);
  // What is not known of the waits stands last in both directions.
  void sort_by(CollectiveColumn column, bool descending);
  // Indices into Scene::collectives().
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  // Of all rows together: "12 collectives, 3.1 ms waited by all". Rows of which nobody knows who waited are
  // in no sum, and it says how many they are.
  std::string summary() const;
  // The run has operations and no times: nothing is in any row, and the summary says where they stand.
  bool unlisted() const;

 private:
  void choose();
  void sort();

  const Scene& scene_;
  std::string filter_;
  CollectiveColumn column_ = CollectiveColumn::wait;
  bool descending_ = true;
  std::vector<std::uint32_t> rows_;
  std::int64_t wait_ns_ = 0;
  std::size_t waits_known_ = 0;  // of how many rows
};

}  // namespace lockstep::viewer
