#include "tracer/inject/core/paired_records.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "trace/reader.h"
#include "tracer/inject/control/gate.h"
#include "tracer/inject/writer/prepare.h"

namespace lockstep::tracer {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t kBegin = 1;
constexpr std::uint8_t kEnd = 2;
constexpr std::uint8_t kFirst = 3;

// Keeps what comes; stands still in its first drain until it is let go, so that the ring fills.
class Nesting final : public Source {
 public:
  const char* name() const noexcept override { return "nesting"; }
  void begin(SourceContext& context) override { context_ = &context; }
  void consume(std::uint32_t, std::uint8_t type, const std::byte* body, std::uint32_t bytes,
               trace::Nanoseconds) override {
    if (type == kFirst) return;
    std::uint64_t id = 0;
    ASSERT_GE(bytes, sizeof id);
    std::memcpy(&id, body, sizeof id);
    if (type == kBegin) {
      open_.push_back(id);
      ++begun_;
      return;
    }
    ASSERT_EQ(type, kEnd);
    ASSERT_FALSE(open_.empty()) << "the end of " << id << " without its begin";
    EXPECT_EQ(open_.back(), id);
    open_.pop_back();
  }
  void end_drain(trace::Nanoseconds) override {
    reached.store(true);
    for (int i = 0; i < 60'000 && !go.load(); ++i) usleep(1000);
  }
  void finish(trace::Nanoseconds) override { EXPECT_TRUE(open_.empty()) << open_.size() << " left open"; }

  std::atomic<bool> reached{false};
  std::atomic<bool> go{false};
  std::uint64_t begun() const { return begun_; }

 private:
  SourceContext* context_ = nullptr;
  std::vector<std::uint64_t> open_;
  std::uint64_t begun_ = 0;
};

// One thread's pairs in random depth; what emit_begin() said of each is what emit_end() has to say.
class Pairs {
 public:
  explicit Pairs(SourceId source) : source_(source) {}

  void walk(int records, std::size_t most_open) {
    for (int i = 0; i < records; ++i) {
      const bool deeper = open_.empty() || (open_.size() < most_open && random_() % 2 == 0);
      deeper ? begin() : end();
    }
    while (!open_.empty()) end();
  }
  std::uint64_t recorded() const { return recorded_; }
  std::uint64_t lost() const { return lost_; }

 private:
  void begin() {
    const std::uint64_t id = next_++;
    const bool recorded = emit_begin(source_, kBegin, &id, sizeof id, padding_.data(), random_() % 64);
    ++(recorded ? recorded_ : lost_);
    open_.emplace_back(id, recorded);
  }
  void end() {
    const auto [id, recorded] = open_.back();
    open_.pop_back();
    EXPECT_EQ(emit_end(source_, kEnd, &id, sizeof id), recorded) << id;
  }

  SourceId source_;
  std::mt19937 random_{42};  // NOLINT(cert-msc51-cpp): the same walk each time
  std::string padding_ = std::string(64, 'x');
  std::vector<std::pair<std::uint64_t, bool>> open_;
  std::uint64_t next_ = 0;
  std::uint64_t recorded_ = 0;
  std::uint64_t lost_ = 0;
};

// Runs `body` in a process of its own, since the tracer lives until its process ends, and expects that
// nothing failed there.
class PairedRecords : public ::testing::Test {
 protected:
  ~PairedRecords() override { fs::remove_all(folder_); }

  template <class Body>
  void in_child(Body body) {
    fs::create_directories(folder_);
    const pid_t child = fork();
    if (child == 0) {
      setenv("LOCKSTEP_RUN", folder_.c_str(), 1);
      setenv("RANK", "0", 1);
      static Nesting source;
      Tracer& tracer = Tracer::instance();
      if (!prepare()) _exit(3);
      body(source, tracer.add_source(source));
      fflush(nullptr);
      _exit(HasFailure() ? 6 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
  }
  // All losses that the file tells of.
  std::uint64_t losses() const {
    const Result<trace::Reader> reader = trace::Reader::open((folder_ / "rank-0.lst").c_str());
    EXPECT_TRUE(reader.ok()) << reader.error().message;
    std::vector<trace::Drop> drops;
    EXPECT_TRUE(reader.ok() && reader.value().read(trace::Selection{}, drops).ok());
    std::uint64_t count = 0;
    for (const trace::Drop& drop : drops) count += drop.count;
    return count;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("lockstep-pairs-" + std::to_string(getpid()));
};

TEST_F(PairedRecords, AFullRingLosesWholePairsAndCountsEachOnce) {
  const fs::path lost = folder_ / "lost";
  in_child([&](Nesting& source, SourceId id) {
    emit(id, kFirst, nullptr, 0);
    for (int i = 0; i < 60'000 && !source.reached.load(); ++i) usleep(1000);
    ASSERT_TRUE(source.reached.load());
    Pairs pairs(id);
    pairs.walk(100'000, 60);
    EXPECT_GT(pairs.lost(), 0U) << "the ring was not full";
    source.go.store(true);
    pairs.walk(1000, 8);
    Tracer::instance().shut_down();
    EXPECT_EQ(source.begun(), pairs.recorded());
    std::ofstream(lost) << pairs.lost();
  });
  std::uint64_t count = 0;
  std::ifstream(lost) >> count;
  EXPECT_GT(count, 0U);
  EXPECT_EQ(losses(), count);
}

TEST_F(PairedRecords, AnEndGoesTheWayOfItsBeginWhereTheGateMovesBetweenThem) {
  in_child([](Nesting& source, SourceId id) {
    source.go.store(true);
    const std::uint64_t outer = 1;
    const std::uint64_t inner = 2;
    EXPECT_TRUE(emit_begin(id, kBegin, &outer, sizeof outer));
    control::change_gate(control::kStopped, 0);
    EXPECT_FALSE(emit_begin(id, kBegin, &inner, sizeof inner));
    control::change_gate(0, control::kStopped);
    EXPECT_FALSE(emit_end(id, kEnd, &inner, sizeof inner));
    control::change_gate(control::kStopped, 0);
    EXPECT_TRUE(emit_end(id, kEnd, &outer, sizeof outer));
    Tracer::instance().shut_down();
    EXPECT_EQ(source.begun(), 1U);
  });
  EXPECT_EQ(losses(), 0U);
}

}  // namespace
}  // namespace lockstep::tracer
