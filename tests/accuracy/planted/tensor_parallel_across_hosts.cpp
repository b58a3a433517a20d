// A group of tensor parallelism on two hosts.
#include <array>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/planted/two_ranks.h"

namespace lockstep::accuracy {
namespace {

using namespace analyzer;  // NOLINT(google-build-using-namespace): a file of the analyzer's jobs

Job tensor_parallel(Random& random) {
  return two_ranks(random, "tensor parallel", {}, "node1");
}

constexpr auto kTensorParallelAcrossHostsCases = std::to_array<KindCase>({
    {"tensor_parallel_across_hosts", tensor_parallel, 350},
});

}  // namespace

const Planted planted::tensor_parallel_across_hosts{.cases = kTensorParallelAcrossHostsCases};

}  // namespace lockstep::accuracy
