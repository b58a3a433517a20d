// One rank reduces another type than the other one.
#include <array>
#include <cstdint>

#include "analyzer/diagnose/test_reports.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job disagrees(Random& random) {
  JobBuilder job;
  const std::uint32_t group = job.group("dp", {0, 1});
  const auto wrong = static_cast<std::int32_t>(random.below(2));
  for (std::int32_t rank = 0; rank < 2; ++rank)
    job.rank(rank)
        .all_reduce(rank, 90 * us)
        .in_group(group)
        .sequence(3)
        .bytes(400)
        .of(rank == wrong ? DataType::bfloat16 : DataType::float32);
  return job.build();
}

constexpr auto kMismatchedCollectivesCases = std::to_array<KindCase>({
    {"mismatched_collectives", disagrees, 90},
});

}  // namespace

const Planted planted::mismatched_collectives{.cases = kMismatchedCollectivesCases};

}  // namespace lockstep::accuracy
