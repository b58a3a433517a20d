// Looks for a hang while a job runs (--hang-timeout), and writes down what every rank of this host was doing:
// in its trace file, and with its stacks in hang-rank-<N>.json.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tracer/recorder/attach.h"

namespace lockstep::tracer::record {

// Whether the job hangs, by what its processes answered: ranks (or, where there are none, all processes) that
// have shown progress before and none for `timeout_ns`. One that doesn't answer counts as silent, if another
// does.
bool is_hang(const std::vector<Answer>& answers, std::int64_t timeout_ns);

// After a silence: whether the job goes on. One sign of life is not enough for that: an operation that ends
// by its timeout is one too, and so is a process that is being ended.
class SilenceWatch {
 public:
  void begin(const std::vector<Answer>& answers);
  // True once: the second time that the job was further than before, with all its processes there.
  bool goes_on(const std::vector<Answer>& answers);

 private:
  bool watching_ = false;
  std::size_t processes_ = 0;
  std::int64_t progress_ = 0;
  int signs_ = 0;
};

// Keeps what was written down of an earlier hang: hang-rank-0.json becomes hang-1-rank-0.json. Nine are kept.
void keep_earlier_hang(const std::filesystem::path& run, const std::string& name);

class HangWatch {
 public:
  // `is_asked_for`: somebody knows that a silence of `timeout_ns` is a hang; else it may be one. `say` is
  // called from the watch's own thread.
  HangWatch(std::filesystem::path run, std::int64_t timeout_ns, bool is_asked_for,
            std::function<void(const std::string&)> say);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  void watch();
  void write_down();

  std::filesystem::path run_;
  std::int64_t timeout_ns_;
  bool is_asked_for_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace lockstep::tracer::record
