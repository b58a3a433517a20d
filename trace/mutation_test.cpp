// Random damage behind the checksums: whatever a file says, the reader stays within its bounds. The fuzz
// target (trace_reader_fuzzer.cpp) does the same for longer; this runs everywhere and always the same.
#include <gtest/gtest.h>

#include "trace/exercise_reader.h"
#include "trace/file_surgery.h"
#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

// A file with all kinds of chunks, uncompressed, so that changes reach the columns.
std::vector<std::byte> seed_file(std::uint64_t seed, bool closed) {
  test::TemporaryFolder folder;
  WriterOptions options;
  options.events_per_chunk = 16;
  Writer writer = test::must(Writer::create((folder / "seed.lst").c_str(), options));
  for (int i = 0; i < 3; ++i) writer.add_lane({.name = "lane"});
  writer.add_group({.name = "group", .ranks = {0, 1, 2}});
  writer.set_metadata("rank", "0");
  for (int i = 0; i < 9; ++i) writer.intern("name " + std::to_string(i));
  test::RandomEvents random(seed);
  test::Record record;
  for (int i = 0; i < 100; ++i) test::append_random(random, 3, 1, writer, record);
  test::expect_ok(writer.close());
  test::FileBuilder builder;
  for (const test::RawChunk& chunk : test::take_apart(test::read_file(folder / "seed.lst"))) {
    if (chunk.header.kind != static_cast<std::uint8_t>(format::ChunkKind::index)) builder.add(chunk);
  }
  if (closed) builder.finish();
  return builder.bytes();
}

void mutate(test::RandomEvents& random, std::vector<std::byte>& bytes) {
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << random.below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random.below(256));
        break;
      case 2:  // a number, such as a size or a count
        for (std::size_t k = at; k < std::min(at + 4, bytes.size()); ++k) {
          bytes[k] = static_cast<std::byte>(random.number() >> 8 * (k - at));
        }
        break;
      case 3: {  // bytes from elsewhere
        const std::size_t from = random.below(bytes.size());
        const std::size_t size = random.below(64);
        for (std::size_t k = 0; k < size && at + k < bytes.size() && from + k < bytes.size(); ++k) {
          bytes[at + k] = bytes[from + k];
        }
        break;
      }
      default:
        bytes.resize(std::max<std::size_t>(at, 1));
    }
  }
}

class Mutation : public testing::TestWithParam<int> {};

TEST_P(Mutation, IsSurvived) {
  test::RandomEvents random(static_cast<std::uint64_t>(GetParam()));
  const std::vector<std::byte> seed = seed_file(static_cast<std::uint64_t>(GetParam()), GetParam() % 2 == 0);
  std::size_t opened = 0;
  std::size_t read_without_complaint = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::byte> bytes = seed;
    mutate(random, bytes);
    test::seal(bytes);
    const test::Exercise outcome = test::exercise_reader(bytes);
    opened += outcome.opened;
    read_without_complaint += outcome.verified;
  }
  // Sealing is what lets changes through: if it failed, nearly nothing would be opened or all of it refused.
  EXPECT_GT(opened, 1000U);
  EXPECT_GT(read_without_complaint, 200U);
  EXPECT_LT(read_without_complaint, opened);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Mutation, testing::Range(1, 7));

}  // namespace
}  // namespace lockstep::trace
