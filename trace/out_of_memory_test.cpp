// The writer where memory runs out at any of its allocations: no exception leaves it, what it wrote is
// readable, what it lost is counted. The reader likewise: it takes no file for a damaged one. A program of
// its own, because it replaces the allocator.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <new>
#include <utility>

#include "trace/test_support.h"

namespace {

// Allocations that still succeed; negative: all do.
long allocations_left = -1;
bool only_one_fails = false;

bool may_allocate() {
  if (allocations_left < 0) return true;
  if (allocations_left == 0) {
    if (only_one_fails) allocations_left = -1;
    return false;
  }
  --allocations_left;
  return true;
}

}  // namespace

// Not inlined: the compiler would see malloc() meet operator delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (!may_allocate()) throw std::bad_alloc();
  if (void* memory = malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return may_allocate() ? malloc(size > 0 ? size : 1) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  free(memory);
}

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;

// Everything a writer can be asked, with flushes in between.
void write_something(Writer& writer, int rounds, const std::vector<Argument>& arguments, const Group& group) {
  for (LaneId lane = 0; lane < 3; ++lane) writer.add_lane({LaneKind::host_thread, 1, 2, 3, "a lane"});
  writer.add_group(group);
  writer.set_metadata("a key that is longer than a short string",
                      "a value that is longer than a short string");
  for (int i = 0; i < rounds; ++i) {
    char name[32];
    snprintf(name, sizeof name, "the name with the number %d", i % 50);
    const StringId id = writer.intern(name);
    const LaneId lane = static_cast<LaneId>(i % 3);
    writer.append(HostRange{.lane = lane, .end_lane = lane, .begin = i, .end = i + 1, .name = id}, arguments);
    writer.append(Mark{.lane = lane, .time = i});
    writer.append(Collective{.lane = lane, .begin = i, .end = i, .group = 0});
    writer.append(Drop{.begin = i, .end = i, .count = 1});
    writer.append(CollectiveIssue{.lane = lane, .begin = i, .end = i, .group = 0, .sequence = i});
    if (i % 100 == 99) static_cast<void>(writer.flush());
  }
}

TEST(OutOfMemory, AnywhereIsSurvived) {
  const std::vector<Argument> arguments(3);
  const Group group{"a group", "", {0, 1}};
  constexpr int kRounds = 300;
  test::TemporaryFolder folder;
  const std::string path = folder / "memory.lst";
  WriterOptions options;
  options.exclusive = false;
  options.events_per_chunk = 128;
  long allowed = 0;
  bool failed = true;
  for (; failed; ++allowed) {
    ASSERT_LT(allowed, 100'000);
    allocations_left = allowed;
    Result<Writer> created = Writer::create(path.c_str(), options);
    if (!created.ok()) {
      allocations_left = -1;
      continue;
    }
    Writer writer = std::move(created).value();
    write_something(writer, kRounds, arguments, group);
    const Status closed = writer.close();
    allocations_left = -1;
    failed = !closed.ok();
    const std::uint64_t lost = writer.events_lost();
    EXPECT_EQ(writer.events_appended(), 5U * kRounds);
    if (!failed) {
      EXPECT_EQ(lost, 0U);
    }
    const Reader reader = must(Reader::open(path));
    EXPECT_EQ(reader.complete(), !failed);
    expect_ok(reader.verify());
    std::uint64_t kept = 0;
    test::for_each_kind([&]<class E>(const E&) { kept += reader.count(format::Schema<E>::kKind); });
    ASSERT_EQ(kept + lost, 5U * kRounds) << "with " << allowed << " allocations";
    std::int64_t at[3] = {0, 1, 2};
    expect_ok(reader.read<HostRange>({}, std::function<void(const HostRange&)>([&](const HostRange& range) {
                                       EXPECT_EQ(range.begin, at[range.lane]);
                                       at[range.lane] += 3;
                                       EXPECT_EQ(
                                           reader.string(range.name),
                                           "the name with the number " + std::to_string(range.begin % 50));
                                     })));
  }
  EXPECT_GT(allowed, 50);  // otherwise this tried nothing
}

TEST(OutOfMemory, IsNoDamageOfTheFile) {
  test::TemporaryFolder folder;
  const std::filesystem::path path(folder / "memory.lst");
  Writer writer = must(Writer::create(path.c_str(), {}));
  write_something(writer, 300, std::vector<Argument>(3), {"a group", "", {0, 1}});
  expect_ok(writer.close());
  only_one_fails = true;
  int refused = 0;
  bool failed = true;
  for (long allowed = 0; failed; ++allowed) {
    ASSERT_LT(allowed, 100'000);
    allocations_left = allowed;
    const Result<Reader> opened = Reader::open(path);
    failed = std::exchange(allocations_left, -1) < 0;
    if (!opened.ok()) {
      ++refused;
      EXPECT_NE(opened.error().message.find("not enough memory"), std::string::npos)
          << opened.error().message;
      continue;
    }
    EXPECT_TRUE(opened.value().complete()) << "with " << allowed << " allocations";
    EXPECT_TRUE(opened.value().warnings().empty()) << "with " << allowed << " allocations";
  }
  only_one_fails = false;
  EXPECT_GT(refused, 10);  // otherwise this tried nothing
}

}  // namespace
}  // namespace lockstep::trace
