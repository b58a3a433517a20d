#include "analyzer/report/measure_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/palette.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const std::filesystem::path kDocuments = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "docs";

std::filesystem::path page_of(const std::string& key) {
  return kDocuments / "measures" / (key + ".md");
}

const MeasureField& field(const std::string& key) {
  for (const MeasureField& one : measure_fields())
    if (one.key == key) return one;
  throw std::out_of_range(key);
}

// Every field another value, from `next` on.
Measures distinct(std::int64_t next) {
  Measures m;
  for (const MeasureField& one : measure_fields()) {
    if (const auto* const time = std::get_if<MeasureField::Time>(&one.member)) m.*(*time) = next++;
    if (const auto* const time = std::get_if<MeasureField::OptionalTime>(&one.member)) m.*(*time) = next++;
    if (const auto* const ratio = std::get_if<MeasureField::Ratio>(&one.member))
      m.*(*ratio) = static_cast<double>(next++);
  }
  for (std::int64_t& part : m.partition.ns) part = next++;
  m.partition.compute_over_communication_ns = next++;
  return m;
}

// A member that is not in the list is in no document.
TEST(MeasureFields, AreAllMembersOfMeasuresEachOnce) {
  std::size_t size = sizeof(Partition) + alignof(Measures);  // both flags
  std::set<std::string> keys;
  for (const MeasureField& one : measure_fields()) {
    size += std::holds_alternative<MeasureField::Time>(one.member) ? sizeof(std::int64_t)
                                                                   : sizeof(std::optional<std::int64_t>);
    EXPECT_TRUE(keys.insert(one.key).second) << one.key;
    EXPECT_EQ(one.is_time(), std::string(one.key).ends_with("_ns")) << one.key;
  }
  EXPECT_EQ(size, sizeof(Measures));
  const Measures m = distinct(1);
  std::set<double> values;
  for (const MeasureField& one : measure_fields()) {
    const MeasureValue value = value_of(one, m);
    ASSERT_FALSE(std::holds_alternative<std::monostate>(value)) << one.key;
    const auto* const time = std::get_if<std::int64_t>(&value);
    EXPECT_EQ(time != nullptr, one.is_time());
    values.insert(time != nullptr ? static_cast<double>(*time) : std::get<double>(value));
  }
  EXPECT_EQ(values.size(), measure_fields().size());
}

TEST(MeasureFields, AreAbsentWhereTheyAreNotKnown) {
  Measures m = distinct(1);
  m.waits_known = false;
  EXPECT_FALSE(time_of(field("collective_wait_ns"), m));
  EXPECT_TRUE(time_of(field("compute_ns"), m));
  m.known = false;
  EXPECT_FALSE(time_of(field("compute_ns"), m));
  EXPECT_FALSE(time_of(field("off_cpu_ns"), m));
  EXPECT_TRUE(time_of(field("window_ns"), m)) << "how long it is, is known";
  m.window_ns = 0;
  EXPECT_FALSE(time_of(field("window_ns"), m));
  m = distinct(1);
  m.off_cpu_ns.reset();
  EXPECT_FALSE(time_of(field("off_cpu_ns"), m));
  m.overlap_ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value_of(field("overlap_ratio"), m)));
  EXPECT_FALSE(time_of(field("overlap_ratio_per_kernel"), m)) << "no time";
}

TEST(MeasureFields, TimesOfWindowsAddUp) {
  Measures sum = distinct(1);
  Measures more = distinct(1'000);
  more.run_queue_ns.reset();
  add_times(more, sum);
  const Measures one = distinct(1);
  const Measures other = distinct(1'000);
  for (const MeasureField& each : measure_fields()) {
    if (!each.is_time()) continue;
    const std::int64_t added = each.key == std::string("run_queue_ns") ? 0 : *time_of(each, other);
    EXPECT_EQ(time_of(each, sum), *time_of(each, one) + added) << each.key;
  }
  EXPECT_EQ(sum.partition.total(), one.partition.total() + other.partition.total());
  EXPECT_EQ(sum.partition.compute_over_communication_ns,
            one.partition.compute_over_communication_ns + other.partition.compute_over_communication_ns);
  EXPECT_EQ(sum.overlap_ratio, one.overlap_ratio) << "shares do not add up";
  more.known = false;
  add_times(more, sum);
  EXPECT_FALSE(sum.known);
}

// What docs/metrics.md lists as MEASURES: in this order, and the causes in theirs. A measure may have a page
// of docs/measures/ instead.
TEST(MeasureFields, AreThoseOfTheDocument) {
  const std::string document = test::read_whole_file(kDocuments / "metrics.md");
  const std::size_t begin = document.find("\nMEASURES ");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = document.find("```", begin);
  std::vector<std::string> listed;
  std::string word;
  for (const char letter : document.substr(begin + 10, end - begin - 10)) {
    if (letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
      word += letter;
    } else if (!word.empty()) {
      listed.push_back(std::exchange(word, ""));
    }
  }
  std::vector<std::string> declared;
  for (const MeasureField& one : measure_fields())
    if (!std::filesystem::exists(page_of(one.key))) declared.emplace_back(one.key);
  declared.emplace_back("compute_over_communication_ns");
  declared.emplace_back("partition");
  for (const CauseStyle& cause : kCauseStyles) declared.emplace_back(cause.key);
  EXPECT_THAT(listed, ElementsAreArray(declared));
}

// docs/measures/README.md says what such a page has to say.
TEST(MeasureFields, EachPageDefinesOne) {
  std::size_t pages = 0;
  for (const MeasureField& one : measure_fields()) {
    if (!std::filesystem::exists(page_of(one.key))) continue;
    ++pages;
    std::string page = test::read_whole_file(page_of(one.key));
    EXPECT_TRUE(page.starts_with("# `" + std::string(one.key) + "`\n")) << page_of(one.key);
    std::replace(page.begin(), page.end(), '\n', ' ');
    EXPECT_THAT(page, HasSubstr(one.meaning)) << page_of(one.key);
  }
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kDocuments / "measures"))
    found += entry.path().extension() == ".md" && entry.path().filename() != "README.md" ? 1 : 0;
  EXPECT_EQ(found, pages) << "a page of no measure";
}

TEST(Causes, StandInTheirOwnOrder) {
  for (std::size_t i = 0; i < kCauseCount; ++i) {
    EXPECT_EQ(kCauseStyles[i].cause, static_cast<Cause>(i));
    EXPECT_STREQ(to_string(static_cast<Cause>(i)), kCauseStyles[i].key);
  }
}

}  // namespace
}  // namespace lockstep::analyzer
