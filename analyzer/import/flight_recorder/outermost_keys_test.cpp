#include "analyzer/import/flight_recorder/outermost_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace lockstep::analyzer::flight_recorder {
namespace {

bool is_dump(std::string_view text, std::size_t piece = std::string_view::npos) {
  OutermostKeys keys;
  for (std::size_t at = 0; at < text.size() && keys.read(text.substr(at, piece)); at += piece)
    if (piece == std::string_view::npos) break;
  return keys.are_of_a_dump();
}

TEST(OutermostKeys, OfKinetoCountWhereverTheyStand) {
  for (const std::string_view text :
       {R"({"nccl_version": "2.27.5", "pg_config": {"0": {}}, "schemaVersion": 1, "traceEvents": []})",
        R"({"pg_status": {}, "comm_lib_version": "2", "nccl_version": "2", "traceEvents": []})",
        R"({"pg_config": [{"a": "}"}, "]"], "notes": "\"entries\": [", "traceEvents" : []})"})
    EXPECT_FALSE(is_dump(text)) << text;
}

TEST(OutermostKeys, OfDumpsCountWhereverTheyStand) {
  for (const std::string_view text :
       {R"({"version": "2.10", "entries": [{"frames": [{"traceEvents": 1}]}]})",
        R"({"notes": ["traceEvents", {"traceEvents": []}], "more": "traceEvents", "entries": []})",
        "\xEF\xBB\xBF\n{\"entries\" \t: []}", R"({"nccl_version": "2.27.5"})", R"({"pg_config": {"traceEv)"})
    EXPECT_TRUE(is_dump(text)) << text;
}

TEST(OutermostKeys, OfOtherTextTellNothing) {
  for (const std::string_view text :
       {"", "[]", "{}", "[{\"entries\": []}]", "\"entries\": []", "nccl_version", "{\"entries\"",
        "{\"nccl_version", R"({"a": "entries", "b": {"entries": []}})", R"({"a": 1}, "entries": [])",
        R"(]{"entries": []})", R"({"a": ]{"entries": []})", R"({"entries", "b": []})"})
    EXPECT_FALSE(is_dump(text)) << text;
}

TEST(OutermostKeys, AreTheSameInPiecesOfAnyLength) {
  for (const std::string_view text :
       {R"({"a": "\\", "nccl_version": "\"}\\\"{", "b": [[{"c": {}}], "d"], "entries": []})",
        R"({"nccl_version": "\\\"traceEvents\": ", "b": {"c": "\\"}, "traceEvents": []})",
        R"({"a": "\\\"", "pg_config": {"entries": ["]"]}})"}) {
    const bool whole = is_dump(text);
    EXPECT_EQ(whole, text.find("traceEvents\": []") == std::string_view::npos);
    for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(is_dump(text, piece), whole) << piece;
  }
}

// Values of any length and depth come before them, and nothing is read behind them.
TEST(OutermostKeys, AreFoundBehindMuchAndEndTheReading) {
  const std::string deep(1'000'000, '['), shut(1'000'000, ']');
  for (const std::string_view key : {"traceEvents", "entries"}) {
    OutermostKeys keys;
    EXPECT_TRUE(keys.read(R"({"nccl_version": "2.27.5", "notes": ")"));
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(keys.read(std::string(100'000, 'x')));
    EXPECT_TRUE(keys.read("\", \"" + std::string(1'000'000, 'k') + "\": 1, \"list\": "));
    EXPECT_TRUE(keys.read(deep));
    EXPECT_TRUE(keys.read(shut));
    EXPECT_TRUE(keys.are_of_a_dump()) << "as far as was read";
    EXPECT_FALSE(keys.read(", \"" + std::string(key) + "\": ["));
    EXPECT_EQ(keys.are_of_a_dump(), key == "entries");
  }
  OutermostKeys ended;
  EXPECT_FALSE(ended.read(R"({"pg_config": {}} "traceEvents": [])"));
  EXPECT_TRUE(ended.are_of_a_dump());
}

}  // namespace
}  // namespace lockstep::analyzer::flight_recorder
