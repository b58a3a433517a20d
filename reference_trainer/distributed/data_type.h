// Element types as traces name them.
#pragma once

#include <ATen/core/Tensor.h>

#include "trace/events/event.h"

namespace lockstep::trainer {

trace::DataType data_type_of(const at::Tensor& tensor);

}  // namespace lockstep::trainer
