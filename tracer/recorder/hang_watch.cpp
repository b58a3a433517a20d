#include "tracer/recorder/hang_watch.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/counts.h"
#include "base/small_file.h"
#include "tracer/recorder/manifest.h"
#include "tracer/recorder/messages.h"
#include "tracer/recorder/own_frames.h"
#include "tracer/recorder/progress.h"
#include "tracer/recorder/python_place.h"
#include "tracer/recorder/stacks.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

constexpr int kAskMilliseconds = 2000;
constexpr std::int64_t kMillisecond = 1'000'000;

constexpr int kMaxEarlier = 9;
constexpr int kSignsOfLife = 2;

nlohmann::ordered_json describe(const std::vector<ThreadStack>& threads) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ThreadStack& thread : threads) {
    list.push_back({{"id", thread.id},
                    {"name", thread.name},
                    {"state", thread.state},
                    {"waits_in_kernel", thread.wait_channel},
                    {"system_call", thread.system_call},
                    {"frames", thread.frames}});
  }
  return list;
}

}  // namespace

void keep_earlier_hang(const fs::path& run, const std::string& name) {
  std::error_code ignored;
  const fs::path latest = run / fmt::format("hang-{}.json", name);
  if (!fs::exists(latest, ignored)) return;
  for (int i = 1; i <= kMaxEarlier; ++i) {
    const fs::path earlier = run / fmt::format("hang-{}-{}.json", i, name);
    if (fs::exists(earlier, ignored)) continue;
    fs::rename(latest, earlier, ignored);
    return;
  }
}

void SilenceWatch::begin(const std::vector<Answer>& answers) {
  watching_ = true;
  signs_ = 0;
  processes_ = 0;
  progress_ = 0;
  for (const Answer& answer : answers) {
    if (answer.elsewhere || !answer.problem.empty()) continue;
    ++processes_;
    progress_ += answer.number("progress").value_or(0);
  }
}

bool SilenceWatch::goes_on(const std::vector<Answer>& answers) {
  if (!watching_) return false;
  std::size_t processes = 0;
  std::int64_t progress = 0;
  for (const Answer& answer : answers) {
    if (answer.elsewhere || !answer.problem.empty()) continue;
    ++processes;
    progress += answer.number("progress").value_or(0);
  }
  if (processes < processes_) watching_ = false;
  if (!watching_ || progress <= progress_) return false;
  progress_ = progress;
  if (++signs_ < kSignsOfLife) return false;
  watching_ = false;
  return true;
}

bool is_hang(const std::vector<Answer>& answers, std::int64_t timeout_ns) {
  const auto is_rank = [](const Answer& answer) { return answer.name.starts_with("rank-"); };
  const bool ranks = std::any_of(answers.begin(), answers.end(), is_rank);
  bool any = false;
  for (const Answer& answer : answers) {
    if (answer.elsewhere || (ranks && !is_rank(answer))) continue;
    if (!answer.problem.empty()) continue;
    if (answer.number("progress").value_or(0) == 0 || answer.number("silent_ns").value_or(0) < timeout_ns)
      return false;
    any = true;
  }
  return any;
}

HangWatch::HangWatch(fs::path run, std::int64_t timeout_ns, bool is_asked_for,
                     std::function<void(const std::string&)> say)
    : run_(std::move(run)),
      timeout_ns_(timeout_ns),
      is_asked_for_(is_asked_for),
      say_(std::move(say)),
      thread_([this] { attempt("watching for hangs", [this] { watch(); }); }) {}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void HangWatch::watch() {
  // Often enough to notice soon, seldom enough to cost nothing.
  const auto pause = std::chrono::nanoseconds(
      std::clamp<std::int64_t>(timeout_ns_ / 10, 200 * kMillisecond, 5000 * kMillisecond));
  bool noted = false;  // this silence is written down
  SilenceWatch silence;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, pause, [this] { return stop_; })) {
    lock.unlock();
    const std::vector<Answer> answers = ask_all(run_, "status", kAskMilliseconds);
    const bool hangs = is_hang(answers, timeout_ns_);
    if (hangs && !noted) {
      write_down();
      silence.begin(answers);
    } else if (silence.goes_on(answers)) {
      say_("the job goes on: it had been silent, and does not hang");
    }
    noted = hangs;
    lock.lock();
  }
}

void HangWatch::write_down() {
  const std::vector<Answer> answers = ask_all(run_, "hang", kAskMilliseconds);
  std::size_t written = 0, lost = 0;
  std::string why;
  for (const Answer& answer : answers) {
    if (answer.elsewhere) continue;
    nlohmann::ordered_json document;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t realtime = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    document["format"] = "lockstep.hang/1";
    document["time"] = to_utc(realtime);
    document["time_realtime"] = realtime;
    document["host"] = answer.host;
    document["process"] = answer.process;
    if (!answer.problem.empty()) document["problem"] = answer.problem;
    for (const char* key : {"rank", "step", "silent_ns"}) {
      if (const auto value = answer.number(key)) document[key] = *value;
    }
    std::vector<ThreadStack> threads = read_stacks(answer.process);
    hide_own_frames(threads);
    std::string python;
    const fs::path python_file = run_ / (answer.name + ".python-stacks");
    if (answer.fields.count("python") != 0)
      python = without_own_frames(read_small_file(python_file.string(), kWholeFile));
    std::error_code ignored;
    fs::remove(python_file, ignored);
    const std::string frame = place_in_python(python);
    // A stack that Python wrote is of before it was stopped.
    document["doing"] = frame.empty() || !why_it_stands_still(threads).empty() ? summary_of(threads) : frame;
    if (!python.empty()) document["python"] = python;
    document["threads"] = describe(threads);
    keep_earlier_hang(run_, answer.name);
    const Status status = replace_small_file(
        (run_ / fmt::format("hang-{}.json", answer.name)).string(),
        document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    if (status.ok()) {
      ++written;
    } else if (++lost == 1) {
      why = status.error().message;
    }
  }
  std::string message = fmt::format("no step and no collective for {}: the job {}. ",
                                    readable_duration(timeout_ns_), is_asked_for_ ? "hangs" : "may hang");
  if (written > 0 || lost == 0)
    message += fmt::format(
        "What {} of this host {} doing stands in {}/hang-*.json; lockstep analyze says who is missing",
        format_plural(written, "process", "processes"), written == 1 ? "was" : "were", run_.string());
  if (lost > 0)
    message += fmt::format("{}What {} {} doing could not be written down: {}", written > 0 ? ". " : "",
                           format_plural(lost, "process", "processes"), lost == 1 ? "was" : "were", why);
  say_(message);
}

}  // namespace lockstep::tracer::record
