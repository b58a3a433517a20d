#include "tests/torture/numbered_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "tests/end_to_end/recorded_run.h"
#include "tests/torture/trials.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::torture {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Progress* create_progress(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress;
}

// For how long the writing thread was kept from running within [from, to].
std::int64_t held_up_between(const Progress& progress, std::int64_t from, std::int64_t to) {
  const std::int64_t end = progress.beats.load();
  const std::int64_t first = std::max<std::int64_t>(end - static_cast<std::int64_t>(kBeats) + 1, 0);
  std::int64_t sum = 0, time = 0, held_up = 0;
  for (std::int64_t number = first; number < end; ++number) {
    const Beat& beat = progress.beat[static_cast<std::size_t>(number) % kBeats];
    const std::int64_t within = std::min(to, beat.time.load()) - std::max(from, time);
    if (number > first)
      sum += std::clamp<std::int64_t>(beat.held_up.load() - held_up, 0, std::max<std::int64_t>(within, 0));
    time = beat.time.load();
    held_up = beat.held_up.load();
  }
  // The process was killed while it stood still.
  const std::int64_t after = to - std::max(from, time);
  return after > 2 * kBeatNanoseconds ? sum + after - kBeatNanoseconds : sum;
}

// 0 where there is none.
pid_t survivor_of(pid_t process) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    pid_t id = 0, parent = 0;
    std::string name, state;
    if (file >> id >> name >> state >> parent && parent == process && name == "(lockstep)") return id;
  }
  return 0;
}

}  // namespace

NumberedJob::NumberedJob(const std::vector<std::string>& flags, Second second) : second_(second) {
  // The job's exit code is that of its second rank.
  std::string script;
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string file = folder_ / fmt::format("progress{}", rank);
    progress_[rank] = create_progress(file);
    script += fmt::format("RANK={0} WORLD_SIZE={1} LOCAL_RANK={0} {2} {3} {4} & p{0}=$!\n", rank, kRanks,
                          end_to_end::program("numbered_marks"), file,
                          rank == 1 && second == Second::worker ? "worker" : "");
  }
  script += "wait $p0; wait $p1; code=$?; echo out; exit $code\n";
  std::ofstream(folder_ / "job.sh") << script;
  run_ = std::make_unique<end_to_end::BackgroundRun>(
      folder_, end_to_end::record_command(run_path(), flags, {"/bin/sh", folder_ / "job.sh"}),
      end_to_end::sanitizers_aside());
}

NumberedJob::~NumberedJob() {
  for (Progress* const progress : progress_) {
    if (progress == nullptr) continue;
    if (progress->ending.load() == Ending::none) progress->ending.store(Ending::leave);
    munmap(progress, sizeof(Progress));
  }
}

std::string NumberedJob::file_of(const std::string& run, int rank) const {
  if (rank == 1 && second_ == Second::worker) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(run, absent)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".lst") && !name.starts_with("rank-")) return entry.path().string();
    }
    return {};
  }
  return fmt::format("{}/rank-{}.lst", run, rank);
}

bool NumberedJob::await_first() {
  // And its file: on busy cores the writer's thread comes to it later, and a rank that is killed before
  // leaves none.
  return end_to_end::eventually([this] {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (progress_[rank] == nullptr || progress_[rank]->marks.load() == 0) return false;
      if (!trace::Reader::open(file_of(run_path(), rank)).ok()) return false;
    }
    return true;
  });
}

void NumberedJob::kill(int rank) {
  ::kill(progress_[rank]->process.load(), SIGKILL);
}

bool NumberedJob::kill_with_survivor(int rank) {
  const pid_t process = progress_[rank]->process.load();
  const bool begun = end_to_end::eventually([&] { return survivor_of(process) != 0; });
  if (begun) ::kill(process, SIGSTOP);  // else it may begin another
  const pid_t survivor = survivor_of(process);
  if (survivor != 0) ::kill(survivor, SIGKILL);
  ::kill(process, SIGKILL);
  return survivor != 0;
}

bool NumberedJob::kill_survivor(int rank) {
  const pid_t process = progress_[rank]->process.load();
  (void)end_to_end::eventually([&] { return survivor_of(process) != 0; });
  const pid_t survivor = survivor_of(process);
  return survivor != 0 && ::kill(survivor, SIGKILL) == 0;
}

void NumberedJob::kill_recorder() {
  ::kill(run_->process(), SIGKILL);
}

void NumberedJob::kill_all() {
  for (int rank = 0; rank < kRanks; ++rank) kill(rank);
}

Returned NumberedJob::returned(int rank) const {
  // The rank goes on meanwhile: both of the same call, as far as it can be told.
  for (;;) {
    Returned found;
    found.last = progress_[rank]->last_returned.load();
    found.marks = progress_[rank]->marks.load();
    if (progress_[rank]->last_returned.load() == found.last) return found;
  }
}

Remains NumberedJob::remains(const std::string& run, int rank, const Returned& returned) const {
  Remains found;
  const std::string path = file_of(run, rank);
  const Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok()) << path;
  if (!reader.ok()) return found;
  EXPECT_TRUE(reader.value().verify().ok()) << path;
  std::vector<trace::Mark> marks;
  EXPECT_TRUE(reader.value().read<trace::Mark>({}, marks).ok());
  std::int64_t last = progress_[rank]->first_returned.load();
  for (const trace::Mark& mark : marks) {
    EXPECT_EQ(reader.value().string(mark.name), std::to_string(found.kept)) << path;
    ++found.kept;
    last = mark.time;
  }
  found.complete = reader.value().complete();
  found.after_death = reader.value().metadata().contains(trace::kWrittenAfterDeath);
  found.lost = std::max<std::int64_t>(returned.marks - found.kept, 0);
  if (found.lost > 0) {
    found.lost_ns = returned.last - last;
    found.held_up_ns = held_up_between(*progress_[rank], last, returned.last);
  }
  return found;
}

bool NumberedJob::await_closed(int rank) const {
  const std::string path = file_of(run_path(), rank);
  return end_to_end::eventually([&] {
    const Result<trace::Reader> reader = trace::Reader::open(path);
    return reader.ok() && reader.value().complete();
  });
}

void wait_for_a_moment(std::mt19937_64& random) {
  std::this_thread::sleep_for(std::chrono::milliseconds(between(random, 0, 1200)));
}

void Losses::add(const Remains& remains) {
  EXPECT_LE(remains.lost_ns - remains.held_up_ns, kSecond)
      << remains.lost << " marks of " << remains.lost_ns << " ns were lost; for " << remains.held_up_ns
      << " ns of these the machine kept the writing thread from running";
  nanoseconds_.push_back(remains.lost_ns);
  if (remains.lost_ns > kSecond) ++beyond_;
}

std::string Losses::in_words() const {
  std::string text = median_and_most(nanoseconds_);
  if (beyond_ > 0)
    text +=
        fmt::format("; {} beyond a second, where the machine kept the writing thread from running", beyond_);
  return text;
}

}  // namespace lockstep::torture
