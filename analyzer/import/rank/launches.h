// Joins device activities with the calls that launched them, and with the `nccl:` ranges around those calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer {

struct Launch {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t correlation = 0;
  std::uint32_t thread = 0;
};

class LaunchTable {
 public:
  void add(const Launch& launch) { launches_.push_back(launch); }
  void reserve(std::size_t count) { launches_.reserve(count); }
  std::size_t size() const { return launches_.size(); }
  std::size_t capacity() const { return launches_.capacity(); }
  // Sorts; to be called once, before find().
  void close();
  // The outermost call (the earliest, of those the longest) with this correlation id; null if there is none.
  // Fast for ids that come nearly in order.
  const Launch* find(std::int64_t correlation);

 private:
  std::vector<Launch> launches_;
  std::size_t hint_ = 0;
};

struct CommunicationRange {
  std::uint32_t thread = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Operation operation = Operation::unknown;
};

class RangeTable {
 public:
  void add(const CommunicationRange& range) { ranges_.push_back(range); }
  void close();
  // The operation of the innermost range on `thread` that holds `time` and names one.
  Operation operation_at(std::uint32_t thread, Nanoseconds time) const;

 private:
  std::vector<CommunicationRange> ranges_;
};

}  // namespace lockstep::analyzer
