// Brings what the next frames will read into memory, on a thread of its own: the one that draws then rarely
// waits for the disk, however large the run is.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "viewer/timeline/bytes_drawn.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

class ReadAhead {
 public:
  // Runs smaller than this are in memory soon enough; of larger ones no more than this at a time.
  static constexpr std::size_t kSmall = std::size_t{64} << 20U;
  static constexpr std::size_t kMost = std::size_t{256} << 20U;

  // `scene` outlives it.
  explicit ReadAhead(const Scene& scene, std::size_t small = kSmall) : scene_(scene), small_(small) {}
  ~ReadAhead() { stop(); }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // What these rows are drawn from within the range, in their order, instead of what was wanted before; the
  // rows of a rank stand together. Returns at once.
  void want(std::vector<RowOfRank> rows, const TimeRange& range);
  // Until nothing is being read.
  void wait();

 private:
  struct Wanted {
    std::vector<RowOfRank> rows;
    TimeRange range;
  };
  void work(const std::stop_token& stopped);
  void read(const Wanted& wanted, const std::stop_token& stopped);
  // Whether there is something newer to do.
  bool outdated(const std::stop_token& stopped);
  void stop();

  const Scene& scene_;
  std::size_t small_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Wanted> next_;  // not yet begun
  bool busy_ = false;
  std::vector<RowOfRank> asked_rows_;  // the last time
  TimeRange asked_range_;
  // By rank what is present of which rows: of the thread alone.
  struct Done {
    std::vector<RowOfRank> rows;
    TimeRange range;
  };
  std::map<std::uint32_t, Done> done_;
  std::jthread thread_;
};

// Makes the pages of a mapping present that hold these bytes; `go_on` is asked between parts of a megabyte.
void read_in(std::span<const std::byte> bytes, const std::function<bool()>& go_on);

}  // namespace lockstep::viewer
