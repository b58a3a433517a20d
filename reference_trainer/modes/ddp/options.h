// The options of data parallelism: as the arguments of PyTorch's DistributedDataParallel of these names.
#pragma once

#include <cstdint>

namespace lockstep::trainer {

struct DdpOptions {
  // Limits of gradient buckets, of the first one and of the others.
  std::int64_t first_bytes = 1 << 20;
  std::int64_t cap_bytes = 4 << 20;
  bool gradient_as_bucket_view = true;
  bool find_unused_parameters = false;
};

}  // namespace lockstep::trainer
