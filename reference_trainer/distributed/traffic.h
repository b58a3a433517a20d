// What collectives were issued for, and how much: counted where they are issued, with or without a tool
// attached.
#pragma once

#include <cstdint>

namespace lockstep::trainer {

enum class Purpose { parameters, bucket_order, gradients, gradient_norm, loss, shutdown };
inline constexpr std::size_t kPurposes = 6;

struct Traffic {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;  // as docs/instrumentation.md counts them: of the larger side

  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {a.operations - b.operations, a.bytes - b.bytes};
  }
};

constexpr const char* to_string(Purpose purpose) {
  switch (purpose) {
    case Purpose::parameters:
      return "parameters";
    case Purpose::bucket_order:
      return "bucket order";
    case Purpose::gradients:
      return "gradients";
    case Purpose::gradient_norm:
      return "gradient norm";
    case Purpose::loss:
      return "loss";
    case Purpose::shutdown:
      return "shutdown";
  }
  return "";
}

}  // namespace lockstep::trainer
