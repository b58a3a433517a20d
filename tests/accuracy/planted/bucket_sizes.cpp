// Gradients in too few, in too many, and in badly cut buckets.
#include <array>
#include <cstdint>

#include "analyzer/diagnose/bucketed_jobs.h"
#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job one_bucket(Random& random) {
  return bucketed_job(1, 0, 0, 80 << 20, about(random, 6000)).build();
}
Job small_buckets(Random& random) {
  const Nanoseconds start = about(random, 100);
  return bucketed_job(40, 10'000, start + 10 * us, 400'000, start + 400 * us).build();
}
Job late_bucket(Random& random) {
  JobBuilder job;
  const Nanoseconds transfer = about(random, 1000);
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds begin = step * 20'000 * us;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      job.rank(rank).step(step, begin, begin + 19'000 * us);
      job.rank(rank).compute(begin, begin + 9000 * us).launched(begin, begin + 1);
      for (const Nanoseconds at : {8000 * us, 9200 * us, 10'400 * us})
        job.rank(rank)
            .all_reduce(begin + at, begin + at + transfer)
            .bytes(8 << 20)
            .launched(begin + 2, begin + 3);
    }
  }
  return job.build();
}

constexpr auto kBucketSizesCases = std::to_array<KindCase>({
    {"buckets_too_large", one_bucket, 100},
    {"buckets_too_small", small_buckets, 110},
    {"first_bucket_late", late_bucket, 120},
});

}  // namespace

const Planted planted::bucket_sizes{.cases = kBucketSizesCases};

}  // namespace lockstep::accuracy
