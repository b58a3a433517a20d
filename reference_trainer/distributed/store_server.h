// The rendezvous store that the launcher runs for its ranks, as torchrun's agent does.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace lockstep::trainer {

class StoreServer {
 public:
  // Listens on a port of 127.0.0.1 that the kernel chooses: there is no moment in which another process could
  // take it.
  static Result<std::unique_ptr<StoreServer>> start();
  virtual ~StoreServer() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace lockstep::trainer
