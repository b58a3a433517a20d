// Sizes of tensors that pass by, read through the stable C functions that libtorch exports for compiled
// models (aoti_torch_*): the same in every version, no header of libtorch's needed.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/events/event.h"

namespace lockstep::tracer::pytorch {

class LoadedLibrary;

// A std::vector of T, as all standard libraries that libtorch is built with lay it out.
template <typename T>
struct Vector {
  T* begin = nullptr;
  T* end = nullptr;
  T* capacity = nullptr;
};
// An at::Tensor in memory: one pointer.
struct TensorSlot {
  void* implementation = nullptr;
};
using TensorList = Vector<TensorSlot>;
using TensorLists = Vector<TensorList>;

struct TensorSize {
  // Absent where a tensor is not dense: of a sparse one travel its values and their indices, as many as each
  // rank has, whatever the shape.
  std::optional<std::uint64_t> bytes = 0;
  trace::DataType data_type = trace::DataType::unknown;
  bool on_device = false;  // or it can't be told; of what has elements
};

// Finds the functions in libtorch_cpu. False if they are missing: then all sizes are 0, and types unknown. A
// libtorch that does not tell how tensors are laid out (before 2.5) has dense ones alone.
bool find_size_functions(const LoadedLibrary& torch);

TensorSize size_of(const TensorSlot* tensor);
// Of all tensors together; the type is that of the first.
TensorSize size_of(const TensorList* tensors);
TensorSize size_of(const TensorLists* lists);

// c10::ScalarType's number as our type, and how many bytes an element has (0 for numbers not known).
trace::DataType data_type_of(std::int32_t scalar_type);
std::uint32_t element_bytes(std::int32_t scalar_type);

}  // namespace lockstep::tracer::pytorch
