#include "tests/torture/numbered_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>

#include "tests/end_to_end/recorded_run.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::torture {

namespace {

Progress* create_progress(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Progress)) != 0) return nullptr;
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress;
}

}  // namespace

NumberedJob::NumberedJob(const std::vector<std::string>& flags) {
  // The job's exit code is that of its second rank.
  std::string script;
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string file = folder_ / fmt::format("progress{}", rank);
    progress_[rank] = create_progress(file);
    script += fmt::format("RANK={0} WORLD_SIZE={1} LOCAL_RANK={0} {2} {3} & p{0}=$!\n", rank, kRanks,
                          end_to_end::program("numbered_marks"), file);
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

bool NumberedJob::await_first() {
  // And its file: on busy cores the writer's thread comes to it later, and a rank that is killed before
  // leaves none.
  return end_to_end::eventually([this] {
    for (int rank = 0; rank < kRanks; ++rank) {
      if (progress_[rank] == nullptr || progress_[rank]->marks.load() == 0) return false;
      if (!trace::Reader::open(fmt::format("{}/rank-{}.lst", run_path(), rank)).ok()) return false;
    }
    return true;
  });
}

void NumberedJob::kill(int rank) {
  ::kill(progress_[rank]->process.load(), SIGKILL);
}

void NumberedJob::kill_recorder() {
  ::kill(run_->process(), SIGKILL);
}

Remains NumberedJob::remains(const std::string& run, int rank) const {
  Remains found;
  const std::string path = fmt::format("{}/rank-{}.lst", run, rank);
  const Result<trace::Reader> reader = trace::Reader::open(path);
  EXPECT_TRUE(reader.ok()) << path;
  if (!reader.ok()) return found;
  EXPECT_TRUE(reader.value().verify().ok()) << path;
  std::vector<trace::Mark> marks;
  EXPECT_TRUE(reader.value().read<trace::Mark>({}, marks).ok());
  std::int64_t last = 0;
  for (const trace::Mark& mark : marks) {
    EXPECT_EQ(reader.value().string(mark.name), std::to_string(found.kept)) << path;
    ++found.kept;
    last = mark.time;
  }
  found.complete = reader.value().complete();
  found.after_death = reader.value().metadata().contains(trace::kWrittenAfterDeath);
  found.lost = std::max<std::int64_t>(progress_[rank]->marks.load() - found.kept, 0);
  if (found.lost > 0) found.lost_ns = progress_[rank]->last_returned.load() - last;
  return found;
}

}  // namespace lockstep::torture
