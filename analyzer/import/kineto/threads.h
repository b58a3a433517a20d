// Host threads of one file, numbered in the order of their first event.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/model/job.h"

namespace lockstep::analyzer::kineto {

class ThreadTable {
 public:
  // `process` and `thread` as raw text: mostly numbers, in Kineto's own spans words.
  std::uint32_t find(std::string_view process, std::string_view thread);
  void name(std::uint32_t thread, std::string name) { threads_[thread].name = std::move(name); }
  std::size_t size() const { return threads_.size(); }
  // The lane that the thread becomes: "thread 4711", or its name.
  JobLane lane(std::uint32_t thread) const;

 private:
  struct Thread {
    std::string process, thread, name;
  };
  std::vector<Thread> threads_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::string key_;
  std::uint32_t last_ = 0;
};

}  // namespace lockstep::analyzer::kineto
