#include "reference_trainer/distributed/operation_numbers.h"

#include <string>

#include "reference_trainer/distributed/data_type.h"

namespace lockstep::trainer {
namespace {

constexpr const char* name_of(trace::Operation operation) {
  switch (operation) {
    case trace::Operation::all_reduce:
      return "all_reduce";
    case trace::Operation::broadcast:
      return "broadcast";
    case trace::Operation::all_gather:
      return "all_gather";
    case trace::Operation::barrier:
      return "barrier";
    default:
      return "collective";
  }
}

}  // namespace

void OperationNumbers::set_purpose(Purpose purpose) {
  purpose_ = purpose;
  issued_for_purpose_ = 0;
}

annotations::Collective OperationNumbers::next(trace::Operation operation,
                                               const std::vector<at::Tensor>& tensors, std::uint64_t bytes,
                                               std::int64_t peer) {
  Traffic& traffic = traffic_[static_cast<std::size_t>(purpose_)];
  ++traffic.operations;
  traffic.bytes += bytes;
  const std::uint64_t number = issued_for_purpose_++;
  return {.name = std::string(name_of(operation)) + " " + to_string(purpose_) + " " + std::to_string(number),
          .group = group_,
          .sequence = sequence_++,
          .bytes = bytes,
          .operation = operation,
          .data_type = tensors.empty() ? trace::DataType::unknown : data_type_of(tensors.front()),
          .peer = peer};
}

void OperationNumbers::skip() {
  ++sequence_;
  ++issued_for_purpose_;
}

std::uint64_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace lockstep::trainer
