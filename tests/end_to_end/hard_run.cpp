#include "tests/end_to_end/hard_run.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "tests/end_to_end/programs/hard_times.h"
#include "tests/end_to_end/stalled_thread.h"

namespace lockstep::end_to_end {
namespace {

namespace fs = std::filesystem;

template <class Event, class Visit>
void visit(const trace::Reader& reader, Visit visit_one) {
  const Status status = reader.read<Event>({}, visit_one);
  if (!status.ok()) throw std::runtime_error(status.error().message);
}

}  // namespace

bool Seen::has(const HardSource& source, int first, int count) const {
  if (!source.numbered) return sum >= count;
  for (int i = first; i < first + count; ++i) {
    if (numbers.count(i) != 1) return false;
  }
  return true;
}

bool Seen::is_within(int first, int count) const {
  const std::set<int> distinct(numbers.begin(), numbers.end());
  return distinct.size() == numbers.size() &&
         (numbers.empty() || (*numbers.begin() >= first && *numbers.rbegin() < first + count));
}

Seen see(const HardSource& source, const trace::Reader& reader) {
  Seen seen;
  seen.complete = reader.complete();
  const std::string name = source.name;
  if (name == "nvtx" || name == "pytorch") {
    visit<trace::HostRange>(reader, [&](const trace::HostRange& range) {
      const std::string text(reader.string(range.name));
      if (text.starts_with("range ")) seen.numbers.insert(std::atoi(text.c_str() + 6));
    });
  } else if (name == "cupti") {
    visit<trace::DeviceActivity>(reader, [&](const trace::DeviceActivity& activity) {
      seen.numbers.insert(static_cast<int>(activity.bytes));
    });
  } else if (name == "nccl") {
    visit<trace::CollectiveIssue>(reader, [&](const trace::CollectiveIssue& issue) {
      seen.numbers.insert(static_cast<int>(issue.bytes));
    });
  } else {
    // A rate's value holds since the point before.
    std::optional<trace::Nanoseconds> before;
    visit<trace::Counter>(reader, [&](const trace::Counter& point) {
      if (reader.lanes()[point.lane].name != "page faults minor (per s)") return;
      if (before.has_value()) seen.sum += point.value * static_cast<double>(point.time - *before) * 1e-9;
      before = point.time;
    });
    seen.sum += 1e-3;  // of rounding
  }
  visit<trace::Drop>(reader, [&](const trace::Drop& drop) { seen.lost += drop.count; });
  const auto unwritten = reader.metadata().find("unwritten");
  if (unwritten != reader.metadata().end()) {
    std::uint64_t events = 0;
    if (std::istringstream(unwritten->second) >> events) seen.lost += events;
  }
  return seen;
}

HardRun::HardRun(const HardSource& source, const std::string& time) : source_(source), time_(time) {}

std::vector<std::string> HardRun::environment() const {
  const std::string stand_in = LOCKSTEP_STAND_IN_DIR;
  std::vector<std::string> variables = sanitizers_aside();
  variables.insert(variables.end(), {"RANK=0", "WORLD_SIZE=1",
                                     "LD_LIBRARY_PATH=" + stand_in + "/driver:" + stand_in + "/cuda13"});
  return variables;
}

std::vector<std::string> HardRun::command(const std::string& folder) const {
  return {program("hard_times"), source_.name, time_, folder};
}

Outcome HardRun::run_alone() {
  const TemporaryFolder folder;
  for (const char* file : {"go", "end"}) std::ofstream(folder / file) << "";
  return run(command(folder.path().string()), environment());
}

void HardRun::start() {
  std::vector<std::string> line{"/bin/sh",
                                "-c",
                                "cd \"$0\" && exec \"$@\"",
                                folder(),
                                binary("lockstep"),
                                "record",
                                "--quiet",
                                "-o",
                                "run",
                                "--buffer-size",
                                "1"};
  if (std::string(source_.name) == "cpu") line.emplace_back("--cpu");
  line.emplace_back("--");
  for (const std::string& word : command(folder())) line.push_back(word);
  background_ = std::make_unique<BackgroundRun>(record_.folder, line, environment());
}

bool HardRun::await_first() {
  return eventually([&] {
    if (!is_there("run/rank-0.lst")) return false;
    const Result<trace::Reader> reader = trace::Reader::open(record_.run_path() + "/rank-0.lst");
    return reader.ok() && see(source_, reader.value()).has(source_, 0, hard_times::kFirst);
  });
}

bool HardRun::await_unwritten() {
  return eventually([&] {
    const Result<trace::Reader> reader =
        trace::Reader::open((fs::path(record_.run_path()) / "rank-0.lst").string().c_str());
    if (!reader.ok()) return false;
    const auto unwritten = reader.value().metadata().find("unwritten");
    return unwritten != reader.value().metadata().end() &&
           unwritten->second.find_first_not_of(' ') != std::string::npos;
  });
}

void HardRun::leave(const std::string& file) const {
  std::ofstream(record_.folder / file) << "";
}

bool HardRun::is_there(const std::string& file) const {
  return fs::exists(record_.folder / file);
}

pid_t HardRun::job() const {
  pid_t process = -1;
  std::ifstream(record_.folder / "pid") >> process;
  return process;
}

}  // namespace lockstep::end_to_end
