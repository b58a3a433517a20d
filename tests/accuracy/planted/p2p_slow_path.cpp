// Messages that take longer than collectives of their size.
#include <array>
#include <cstdint>

#include "tests/accuracy/about.h"
#include "tests/accuracy/cases.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job slow_messages(Random& random) {
  JobBuilder job;
  const std::uint32_t group = job.group("all", {0, 1});
  constexpr std::int64_t kBytes = 10'000'000;
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds begin = i * 5000 * us, sent = begin + about(random, 1000);
    job.rank(0).send(1, begin, sent).in_group(group).bytes(kBytes);
    job.rank(1).recv(0, begin, sent).in_group(group).bytes(kBytes);
    for (int rank = 0; rank < 2; ++rank) {
      job.rank(rank).compute(sent, sent + 1000 * us);
      job.rank(rank).all_reduce(sent + 1000 * us, sent + 1100 * us).in_group(group).bytes(kBytes);
      job.rank(rank).trace().device = "cuda:0";
      job.rank(rank).trace().host = "node0";
    }
  }
  return job.build();
}

constexpr auto kP2pSlowPathCases = std::to_array<KindCase>({
    {"p2p_slow_path", slow_messages, 360},
});

}  // namespace

const Planted planted::p2p_slow_path{.cases = kP2pSlowPathCases};

}  // namespace lockstep::accuracy
