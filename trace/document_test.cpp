// The example of docs/trace-format.md is what the writer writes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

// The bytes of the hexdump that follows `marker` in the document, and the position of the first.
std::pair<std::size_t, std::vector<std::byte>> documented_bytes(const std::string& marker) {
  std::ifstream document(LOCKSTEP_SOURCE_DIR "/docs/trace-format.md");
  std::string line;
  while (std::getline(document, line) && line.find(marker) == std::string::npos) {
  }
  std::getline(document, line);  // the fence
  std::size_t position = std::string::npos;
  std::vector<std::byte> bytes;
  while (std::getline(document, line) && line != "```") {
    std::istringstream words(line);
    words >> std::hex;
    std::size_t at = 0;
    words >> at;
    if (position == std::string::npos) position = at;
    EXPECT_EQ(at, position + bytes.size()) << line;
    for (int value = 0; words >> value;) bytes.push_back(static_cast<std::byte>(value));
  }
  return {position, bytes};
}

TEST(Document, ExampleIsWhatTheWriterWrites) {
  test::TemporaryFolder folder;
  Writer writer = test::must(Writer::create((folder / "example.lst").c_str()));
  writer.add_lane({LaneKind::host_thread, 42, 43, 0, "main"});
  writer.intern("train");
  writer.append(Step{.begin = 1000, .end = 1900, .number = 0});
  writer.append(Step{.begin = 2000, .end = 2950, .number = 1});
  writer.append(Step{.begin = 3000, .end = 3920, .number = 2});
  test::expect_ok(writer.close());
  const std::vector<std::byte> file = test::read_file(folder / "example.lst");
  for (const auto& [marker, position, size] :
       {std::tuple("example: header", 0U, 32U), {"example: chunk", 0xb1U, 88U}}) {
    const auto [at, bytes] = documented_bytes(marker);
    ASSERT_EQ(bytes.size(), size) << marker;
    ASSERT_EQ(at, position) << marker;
    ASSERT_LE(at + bytes.size(), file.size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(at)))
        << marker;
  }
}

}  // namespace
}  // namespace lockstep::trace
