#include "tracer/inject/sources/nvtx/instrumentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/temporary_folder.h"
#include "trace/reader.h"

namespace lockstep::tracer::nvtx {
namespace {

using testing::ElementsAre;
using testing::Optional;

FieldValue number(std::uint64_t value) {
  return {trace::ArgumentType::uint64, value, ""};
}
FieldValue text(const std::string& value) {
  return {trace::ArgumentType::string, 0, value};
}

TEST(Instrumentation, SchemaNames) {
  EXPECT_EQ(meaning_of_schema("lockstep.step"), Meaning::step);
  EXPECT_EQ(meaning_of_schema("lockstep.compute"), Meaning::compute);
  EXPECT_EQ(meaning_of_schema("lockstep.group"), Meaning::group);
  EXPECT_EQ(meaning_of_schema("lockstep.issue"), Meaning::issue);
  EXPECT_EQ(meaning_of_schema("lockstep.collective"), Meaning::collective);
  EXPECT_EQ(meaning_of_schema("lockstep.steps"), Meaning::none);
  EXPECT_EQ(meaning_of_schema(""), Meaning::none);
}

TEST(Instrumentation, CollectiveFields) {
  InstrumentationFields fields;
  const std::vector<FieldValue> values{
      number(3), number(17), number(1 << 20),
      number(1), number(10), {trace::ArgumentType::int64, static_cast<std::uint64_t>(-1), ""}};
  ASSERT_TRUE(read_fields(Meaning::collective, values, fields));
  EXPECT_EQ(fields.group, 3U);
  EXPECT_EQ(fields.sequence, 17U);
  EXPECT_EQ(fields.bytes, 1U << 20);
  EXPECT_EQ(fields.operation, trace::Operation::all_reduce);
  EXPECT_EQ(fields.data_type, trace::DataType::float64);
  EXPECT_EQ(fields.peer, trace::kNoRank);
}

TEST(Instrumentation, NumbersThatThisVersionDoesNotKnowBecomeUnknown) {
  InstrumentationFields fields;
  const std::vector<FieldValue> values{number(0),   number(0),           number(0),
                                       number(200), number(4000000000U), number(std::uint64_t{1} << 40)};
  ASSERT_TRUE(read_fields(Meaning::collective, values, fields));
  EXPECT_EQ(fields.operation, trace::Operation::unknown);
  EXPECT_EQ(fields.data_type, trace::DataType::unknown);
  EXPECT_EQ(fields.peer, trace::kNoRank);
}

TEST(Instrumentation, ComputeFieldsWithAndWithoutAPass) {
  InstrumentationFields fields;
  const FieldValue none{trace::ArgumentType::int64, static_cast<std::uint64_t>(-1), ""};
  ASSERT_TRUE(read_fields(Meaning::compute, std::vector{number(7), number(3), number(2)}, fields));
  EXPECT_EQ(fields.layer, 7);
  EXPECT_EQ(fields.microbatch, 3);
  EXPECT_EQ(fields.pass, trace::Pass::backward);
  // Nothing is left of the payload before.
  ASSERT_TRUE(read_fields(Meaning::compute, std::vector{none, none}, fields));
  EXPECT_EQ(fields.layer, -1);
  EXPECT_EQ(fields.microbatch, -1);
  EXPECT_EQ(fields.pass, trace::Pass::other);
  // A third field of before there were passes, and a pass of a later version.
  ASSERT_TRUE(read_fields(Meaning::compute, std::vector{number(0), number(1), text("mine")}, fields));
  EXPECT_EQ(fields.pass, trace::Pass::other);
  ASSERT_TRUE(read_fields(Meaning::compute, std::vector{number(0), number(1), number(5)}, fields));
  EXPECT_EQ(fields.pass, trace::Pass::other);
  // What fits into no 32 bits is no layer.
  ASSERT_TRUE(read_fields(Meaning::compute, std::vector{number(1ULL << 40), number(1ULL << 63)}, fields));
  EXPECT_EQ(fields.layer, -1);
  EXPECT_EQ(fields.microbatch, -1);
  EXPECT_FALSE(read_fields(Meaning::compute, std::vector{number(1)}, fields));
}

TEST(Instrumentation, TooFewFieldsOrWrongKindsAreRefusedAndMoreAreFine) {
  InstrumentationFields fields;
  EXPECT_FALSE(read_fields(Meaning::step, {}, fields));
  EXPECT_FALSE(read_fields(Meaning::issue, std::vector{number(1)}, fields));
  EXPECT_FALSE(read_fields(Meaning::step, std::vector{text("3")}, fields));
  EXPECT_FALSE(read_fields(Meaning::group, std::vector{number(0), number(2), number(3)}, fields));
  EXPECT_TRUE(read_fields(Meaning::step, std::vector{number(9), text("extra")}, fields));
  EXPECT_EQ(fields.step, 9);
}

TEST(Instrumentation, Ranks) {
  EXPECT_THAT(parse_ranks("0,1,2,3"), Optional(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(parse_ranks(" 5 , 7 "), Optional(ElementsAre(5, 7)));
  EXPECT_THAT(parse_ranks(""), Optional(ElementsAre()));
  for (const char* wrong : {"0,", ",0", "0,,1", "a", "0;1", "-1", "0,1x", "99999999999"}) {
    EXPECT_EQ(parse_ranks(wrong), std::nullopt) << wrong;
  }
}

TEST(Instrumentation, CorrelationsAreDistinctAndStable) {
  Groups groups;
  const trace::CorrelationId first = groups.correlation(100, 0);
  EXPECT_NE(first, trace::kNoCorrelation);
  EXPECT_EQ(groups.correlation(100, 0), first);
  EXPECT_EQ(groups.correlation(100, 1), first + 1);
  EXPECT_NE(groups.correlation(7, 0), first);
  EXPECT_NE(groups.correlation(7, 0), groups.correlation(100, 1));
}

TEST(Instrumentation, GroupsAreDeclaredOnceAndMayBeReplaced) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "groups.lst";
  {
    Result<trace::Writer> writer = trace::Writer::create(path.c_str());
    ASSERT_TRUE(writer.ok());
    Groups groups;
    InstrumentationFields fields;
    fields.group = 4;
    fields.ranks = "0,1";
    EXPECT_EQ(groups.find(4), std::nullopt);
    groups.declare(writer.value(), fields, "world");
    groups.declare(writer.value(), fields, "world");
    const std::optional<trace::GroupId> world = groups.find(4);
    ASSERT_TRUE(world.has_value());
    fields.ranks = "not ranks";
    groups.declare(writer.value(), fields, "other");
    EXPECT_NE(groups.find(4), world);
    ASSERT_TRUE(writer.value().close().ok());
  }
  {
    const Result<trace::Reader> reader = trace::Reader::open(path);
    ASSERT_TRUE(reader.ok());
    const std::vector<trace::Group>& groups = reader.value().groups();
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].name, "world");
    EXPECT_THAT(groups[0].ranks, ElementsAre(0, 1));
    EXPECT_EQ(groups[1].name, "other");
    EXPECT_EQ(groups[1].description, "ranks: not ranks");
  }
}

}  // namespace
}  // namespace lockstep::tracer::nvtx
