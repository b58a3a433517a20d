#include "analyzer/metrics/bandwidth.h"

namespace lockstep::analyzer {

using trace::Operation;

std::optional<double> bus_factor(Operation operation, std::int32_t ranks) {
  if (ranks < 2) return std::nullopt;
  const double n = ranks;
  switch (operation) {
    case Operation::all_reduce:
      return 2 * (n - 1) / n;
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::all_to_all:
    case Operation::gather:
    case Operation::scatter:
      return (n - 1) / n;
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::send:
    case Operation::recv:
    case Operation::send_recv:
      return 1;
    case Operation::barrier:
    case Operation::unknown:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> bandwidth_gbps(std::int64_t bytes, double time_ns) {
  if (bytes <= 0 || time_ns <= 0) return std::nullopt;
  return static_cast<double>(bytes) / time_ns;
}

}  // namespace lockstep::analyzer
