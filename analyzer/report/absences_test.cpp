// Why nothing is known of ranks' waits.
#include "analyzer/report/absences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep::analyzer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> why_no_waits(const Report& report) {
  std::vector<std::string> messages;
  for (const Warning& warning : explain_absences(report))
    if (warning.code == "absent_waits") messages.push_back(warning.message);
  return messages;
}

// Ranks whose waits nobody knows, each in one operation that stands alone for this reason.
Report report_of(const std::vector<std::string>& evidence) {
  Report report;
  report.sources = {"lockstep"};
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    RankReport rank;
    rank.rank = static_cast<std::int32_t>(i);
    rank.measures.known = true;
    rank.measures.waits_known = false;
    report.ranks.push_back(rank);
    CollectiveReport alone;
    alone.evidence = evidence[i];
    alone.ranks.emplace_back();
    alone.ranks.back().rank = rank.rank;
    report.collectives.push_back(alone);
  }
  return report;
}

TEST(AbsentWaits, SayWhetherPartnersLeftNoTraceOrMatchesWereRejectedOrGroupsUnknown) {
  EXPECT_THAT(
      why_no_waits(report_of({"sequence", "rejected", "none", "rejected"})),
      ElementsAre("1 of 4 ranks: no waiting times, no rank that it communicates with left a record of "
                  "the same operation",
                  "2 of 4 ranks: no waiting times, the times or sizes of its operations rule out that "
                  "they are those of the others by the same number or order",
                  "1 of 4 ranks: no waiting times, the groups of its operations are not known"));
}

TEST(AbsentWaits, AreNotSaidOfRanksThatMet) {
  Report report = report_of({"rejected", "none"});
  for (RankReport& rank : report.ranks) rank.measures.waits_known = true;
  EXPECT_THAT(why_no_waits(report), IsEmpty());
}

}  // namespace
}  // namespace lockstep::analyzer
