#include "trace/checked_json.h"

#include <gtest/gtest.h>

namespace lockstep::trace {
namespace {

const std::string kChecked = with_checksum("{\n  \"exit_code\": 0,\n  \"world_size\": 2\n}\n");

TEST(CheckedJson, HasAChecksumAsItsLastMember) {
  EXPECT_EQ(kChecked.substr(0, kChecked.find("checksum")),
            "{\n  \"exit_code\": 0,\n  \"world_size\": 2,\n  \"");
  EXPECT_TRUE(kChecked.ends_with("\"\n}\n"));
  EXPECT_TRUE(matches_checksum(kChecked));
  EXPECT_TRUE(matches_checksum(with_checksum(R"({"exit_code": 0})"))) << "on a line of its own or not";
}

TEST(CheckedJson, AFlippedBitBeforeTheChecksumIsSeen) {
  const std::size_t end = kChecked.find(",\n  \"checksum");
  for (std::size_t at = 0; at < end; ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = kChecked;
      flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ (1U << bit));
      EXPECT_FALSE(matches_checksum(flipped)) << "bit " << bit << " of byte " << at;
    }
}

TEST(CheckedJson, WithoutAChecksumThereIsNothingToHoldItTo) {
  for (const char* text : {"", "{}", "{\"world_size\": 2}\n", "no JSON", "\"\n}\n", ",\n  \"checksum\": \""})
    EXPECT_TRUE(matches_checksum(text)) << text;
  // Whoever changes it by hand takes the member out.
  EXPECT_TRUE(matches_checksum(kChecked.substr(0, kChecked.find(",\n  \"checksum")) + "\n}\n"));
  EXPECT_TRUE(matches_checksum(kChecked.substr(0, kChecked.size() - 1))) << "an end that we do not write";
}

}  // namespace
}  // namespace lockstep::trace
