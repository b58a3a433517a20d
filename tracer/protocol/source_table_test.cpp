#include "tracer/protocol/source_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace lockstep::tracer {
namespace {

TEST(SourceTable, NamesAreUniqueAndFound) {
  const std::set<std::string_view> names(kSourceNames.begin(), kSourceNames.end());
  EXPECT_EQ(names.size(), kSources.size());
  for (const SourceEntry& entry : kSources) EXPECT_EQ(find_source(entry.name), &entry);
  EXPECT_EQ(find_source("etw"), nullptr);
  EXPECT_EQ(find_source(""), nullptr);
}

TEST(SourceTable, TheDocumentationNamesEach) {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/docs/recording.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const SourceEntry& entry : kSources)
    EXPECT_NE(text.find("`" + std::string(entry.name) + "`"), std::string::npos) << entry.name;
}

}  // namespace
}  // namespace lockstep::tracer
