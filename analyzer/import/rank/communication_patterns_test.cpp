#include "analyzer/import/rank/communication_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using trace::Operation;

std::string error_of(const std::vector<std::string>& texts) {
  const auto parsed = CommunicationPatterns::parse(texts);
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(CommunicationPatterns, TheFirstThatIsFoundCounts) {
  const auto parsed = CommunicationPatterns::parse(
      {"^my_ring=all_reduce", "halo_.*", "T=[0-9]+", "push = send", "ring=barrier"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  const CommunicationPatterns& patterns = *parsed.value();
  EXPECT_EQ(patterns.find("my_ring_kernel<4>(float*)"), Operation::all_reduce);
  EXPECT_EQ(patterns.find("void halo_exchange()"), Operation::unknown);
  EXPECT_EQ(patterns.find("void halo_all_gather()"), Operation::all_gather);  // the name says it
  EXPECT_EQ(patterns.find("kernel<T=5>"), Operation::unknown);
  EXPECT_EQ(patterns.find("push_kernel"), Operation::send);
  EXPECT_EQ(patterns.find("the_ring"), Operation::barrier);
  EXPECT_EQ(patterns.find("ampere_sgemm"), std::nullopt);
}

TEST(CommunicationPatterns, AreReadFromAFileToo) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("names", "# our own\n\n  ring=all_reduce\r\nhalo\n");
  const auto parsed = CommunicationPatterns::parse({"@" + file, "extra"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed.value()->find("ring"), Operation::all_reduce);
  EXPECT_EQ(parsed.value()->find("halo"), Operation::unknown);
  EXPECT_EQ(parsed.value()->find("extra"), Operation::unknown);
  EXPECT_EQ(parsed.value()->find("our own"), std::nullopt);
}

// As some editors write it.
TEST(CommunicationPatterns, AFileMayBeginWithAByteOrderMark) {
  const test::TemporaryFolder folder;
  for (const char* text :
       {"\xEF\xBB\xBF^ring=all_reduce\nhalo\n", "\xEF\xBB\xBF# ours\n^ring=all_reduce\n"}) {
    const auto parsed = CommunicationPatterns::parse({"@" + folder.write("names", text)});
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed.value()->find("ring"), Operation::all_reduce);
    EXPECT_EQ(parsed.value()->find("our ring"), std::nullopt);
  }
}

TEST(CommunicationPatterns, KnowWhichAreFoundNowhere) {
  const auto parsed = CommunicationPatterns::parse({"ring=all_reduce", "hallo", "halo|push"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_THAT(parsed.value()->not_found_in({"my_ring", "push_kernel"}), testing::ElementsAre("hallo"));
  EXPECT_THAT(parsed.value()->not_found_in({}), testing::SizeIs(3));
}

TEST(CommunicationPatterns, ErrorsSayWhereAndWhatThereIs) {
  EXPECT_THAT(error_of({"("}), AllOf(HasSubstr("'('"), HasSubstr("no regular expression")));
  EXPECT_THAT(error_of({"ring=allreduce"}), AllOf(HasSubstr("'allreduce' is no operation"),
                                                  HasSubstr("all_reduce, "), HasSubstr("send_recv")));
  EXPECT_THAT(error_of({""}), HasSubstr("give a regular expression"));
  EXPECT_THAT(error_of({"=send"}), HasSubstr("give a regular expression"));
  EXPECT_THAT(error_of({"@/nowhere/names"}), AllOf(HasSubstr("/nowhere/names"), HasSubstr("can't be read")));
  const test::TemporaryFolder folder;
  EXPECT_THAT(error_of({"@" + folder.write("names", "fine\n*bad\n")}), HasSubstr("names, line 2: '*bad'"));
}

}  // namespace
}  // namespace lockstep::analyzer
