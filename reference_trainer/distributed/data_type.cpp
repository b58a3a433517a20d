#include "reference_trainer/distributed/data_type.h"

namespace lockstep::trainer {

trace::DataType data_type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kChar:
      return trace::DataType::int8;
    case at::kByte:
      return trace::DataType::uint8;
    case at::kInt:
      return trace::DataType::int32;
    case at::kLong:
      return trace::DataType::int64;
    case at::kHalf:
      return trace::DataType::float16;
    case at::kBFloat16:
      return trace::DataType::bfloat16;
    case at::kFloat:
      return trace::DataType::float32;
    case at::kDouble:
      return trace::DataType::float64;
    default:
      return trace::DataType::unknown;
  }
}

}  // namespace lockstep::trainer
