// Remedies name the knob in the words of whoever turns it: PyTorch's arguments and DeepSpeed's keys.
#include "analyzer/diagnose/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/diagnose/test_reports.h"

namespace lockstep::analyzer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Knobs, DeepSpeedCountsBucketsInElements) {
  EXPECT_THAT(bucket_size_knobs(10, DataType::float32),
              AllOf(HasSubstr("bucket_cap_mb=10"), HasSubstr("reduce_bucket_size = 2621440 (elements)")));
  EXPECT_THAT(bucket_size_knobs(10, DataType::bfloat16),
              HasSubstr("reduce_bucket_size = 5242880 (elements)"));
  EXPECT_THAT(bucket_size_knobs(10, DataType::unknown), HasSubstr("reduce_bucket_size (in elements)"));
}

// Two ranks that compute and then communicate, in turns: nothing is hidden.
Report serial_report(Operation operation) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 500 * us).launched(-2, -1);
    job.rank(rank).collective(operation, 500 * us, 900 * us).launched(1, 2);
  }
  return report_of(job);
}

TEST(Knobs, OverlapIsAskedForInTheWordsOfTheOperationsThatRun) {
  EXPECT_THAT(finding(serial_report(Operation::all_gather), "no_overlap").remedy,
              AllOf(HasSubstr("FSDP(backward_prefetch="), HasSubstr("stage3_prefetch_bucket_size"),
                    HasSubstr("stage3_param_persistence_threshold"), Not(HasSubstr("bucket_cap_mb"))));
  EXPECT_THAT(
      finding(serial_report(Operation::reduce_scatter), "no_overlap").remedy,
      AllOf(HasSubstr("overlap_comm = true"), HasSubstr("reduce_bucket_size"), Not(HasSubstr("stage3"))));
  EXPECT_THAT(finding(serial_report(Operation::all_reduce), "no_overlap").remedy,
              AllOf(HasSubstr("bucket_cap_mb=25"), HasSubstr("overlap_comm = true"), Not(HasSubstr("FSDP"))));
  EXPECT_THAT(finding(serial_report(Operation::broadcast), "no_overlap").remedy,
              testing::EndsWith("needed: async_op=True with wait() at the first use"));
}

TEST(Knobs, MessagesAreToBePostedAhead) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) job.rank(rank).compute(0, 500 * us).launched(-2, -1);
  job.rank(0).send(1, 500 * us, 900 * us).launched(1, 2);
  job.rank(1).recv(0, 500 * us, 900 * us).launched(1, 2);
  EXPECT_THAT(finding(report_of(job), "no_overlap").remedy,
              AllOf(HasSubstr("batch_isend_irecv"), HasSubstr("--overlap-p2p-communication"),
                    Not(HasSubstr("bucket_cap_mb"))));
}

// Hidden in part, so that no rule about overlap speaks.
TEST(Knobs, ExposedTransferNamesThoseOfItsLongestOperation) {
  JobBuilder job;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).compute(0, 500 * us).launched(-2, -1);
    job.rank(rank).collective(Operation::all_gather, 400 * us, 900 * us).launched(1, 2);
  }
  EXPECT_THAT(finding(report_of(job), "exposed_transfer").remedy,
              AllOf(HasSubstr("all_reduce_perf"), HasSubstr("stage3_prefetch_bucket_size")));
}

}  // namespace
}  // namespace lockstep::analyzer
