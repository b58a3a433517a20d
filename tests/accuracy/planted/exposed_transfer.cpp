// Transfer that no computation hides: within a host, over a slow link, to a rank without a record.
#include <array>
#include <cstdint>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

// Two ranks that compute, and reduce with nothing beside most of it, so many times.
JobBuilder reducing(Random& random, const char* second_host, std::int64_t bytes, int times) {
  JobBuilder job;
  const Nanoseconds transfer = about(random, 800);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    job.rank(rank).trace().host = rank == 0 ? "alpha" : second_host;
    for (int k = 0; k < times; ++k) {
      const Nanoseconds begin = k * 1400 * us, middle = begin + 400 * us;
      job.rank(rank).compute(begin, begin + 500 * us).launched(begin - 2, begin - 1);
      job.rank(rank).all_reduce(middle, middle + transfer).bytes(bytes).launched(begin + 1, begin + 2);
    }
  }
  return job;
}

Job transfers(Random& random) {
  return reducing(random, "alpha", 1'000'000, 1).build();
}
Job transfers_between_hosts(Random& random) {
  return reducing(random, "beta", 70'000, 10).build();  // 90 MB a second, and large enough to tell
}
Job partner_without_a_record(Random& random) {
  JobBuilder job;
  job.missing(1);
  job.rank(0).compute(0, 500 * us).launched(-2, -1);
  job.rank(0).all_reduce(400 * us, 400 * us + about(random, 500)).launched(1, 2);
  return job.build();
}

constexpr auto kExposedTransferCases = std::to_array<KindCase>({
    {"exposed_transfer", transfers, 280},
    {"slow_link", transfers_between_hosts, 290},
    {"exposed_communication", partner_without_a_record, 300},
});

}  // namespace

const Planted planted::exposed_transfer{.cases = kExposedTransferCases};

}  // namespace lockstep::accuracy
