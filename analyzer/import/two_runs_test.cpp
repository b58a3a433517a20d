// Two recorded runs given together, of which one is of another job: how that one ended says nothing.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/import/import.h"
#include "analyzer/import/run/recorded_rank.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

TEST(TwoRuns, TheOneThatIsLeftOutDoesNotTellHowTheJobEnded) {
  const TemporaryFolder folder;
  folder.write("good/manifest.json", R"({"format": "lockstep.run/1", "world_size": 2, "exit_code": 0})");
  folder.write("bad/manifest.json", R"({"format": "lockstep.run/1", "world_size": 2, "exit_code": 7})");
  run::write_file(folder, "good/rank-1.lst", run::write_rank);
  run::write_file(folder, "bad/rank-1.lst", run::write_rank);
  const Job kept = must(import_job({folder / "good", folder / "bad"}));
  ASSERT_EQ(kept.ranks.size(), 1U);
  EXPECT_EQ(kept.ranks[0].file, folder / "good/rank-1.lst");
  EXPECT_EQ(kept.end.exit_code.value_or(0), 0);
  EXPECT_NE(find_warning(kept.warnings, "rank_duplicate"), nullptr) << "it is said that one is left out";
  EXPECT_EQ(must(import_job({folder / "bad", folder / "good"})).end.exit_code, 7) << "the run that is used";
}

}  // namespace
}  // namespace lockstep::analyzer
