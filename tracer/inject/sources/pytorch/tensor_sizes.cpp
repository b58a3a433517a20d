#include "tracer/inject/sources/pytorch/tensor_sizes.h"

#include <array>

#include "tracer/inject/sources/pytorch/loaded_library.h"

namespace lockstep::tracer::pytorch {

namespace {

using NumelFunction = std::int32_t (*)(const TensorSlot*, std::int64_t*);
using TypeFunction = std::int32_t (*)(const TensorSlot*, std::int32_t*);
using LayoutFunction = std::int32_t (*)();

NumelFunction get_numel = nullptr;
TypeFunction get_type = nullptr;
TypeFunction get_device_type = nullptr;
TypeFunction get_layout = nullptr;
std::int32_t strided = 0;         // what get_layout says of a dense tensor
constexpr std::int32_t kCpu = 0;  // c10::DeviceType

struct ScalarType {
  trace::DataType type;
  std::uint32_t bytes;
};

// In the order of c10::ScalarType, whose numbers never change: they stand in saved files.
constexpr std::array<ScalarType, 25> kScalarTypes{{
    {trace::DataType::uint8, 1},        // Byte
    {trace::DataType::int8, 1},         // Char
    {trace::DataType::unknown, 2},      // Short
    {trace::DataType::int32, 4},        // Int
    {trace::DataType::int64, 8},        // Long
    {trace::DataType::float16, 2},      // Half
    {trace::DataType::float32, 4},      // Float
    {trace::DataType::float64, 8},      // Double
    {trace::DataType::unknown, 4},      // ComplexHalf
    {trace::DataType::unknown, 8},      // ComplexFloat
    {trace::DataType::unknown, 16},     // ComplexDouble
    {trace::DataType::uint8, 1},        // Bool
    {trace::DataType::unknown, 1},      // QInt8
    {trace::DataType::unknown, 1},      // QUInt8
    {trace::DataType::unknown, 4},      // QInt32
    {trace::DataType::bfloat16, 2},     // BFloat16
    {trace::DataType::unknown, 1},      // QUInt4x2
    {trace::DataType::unknown, 1},      // QUInt2x4
    {trace::DataType::unknown, 1},      // Bits1x8
    {trace::DataType::unknown, 1},      // Bits2x4
    {trace::DataType::unknown, 1},      // Bits4x2
    {trace::DataType::unknown, 1},      // Bits8
    {trace::DataType::unknown, 2},      // Bits16
    {trace::DataType::float8_e5m2, 1},  // Float8_e5m2
    {trace::DataType::float8_e4m3, 1},  // Float8_e4m3fn
}};

// Of a tensor with elements: one that is undefined has no device, and libtorch prints that it was asked.
bool is_on_device(const TensorSlot* tensor) {
  std::int32_t type = -1;
  return get_device_type == nullptr || get_device_type(tensor, &type) != 0 || type != kCpu;
}

// Of a tensor with elements: those of a sparse one are those of its shape, most of which are not there.
bool is_dense(const TensorSlot* tensor) {
  std::int32_t layout = strided;
  return get_layout == nullptr || (get_layout(tensor, &layout) == 0 && layout == strided);
}

void add(const TensorSize& size, TensorSize& together) {
  if (size.bytes && together.bytes)
    *together.bytes += *size.bytes;
  else
    together.bytes.reset();
  together.on_device = together.on_device || size.on_device;
}

}  // namespace

bool find_size_functions(const LoadedLibrary& torch) {
  get_numel = torch.function<NumelFunction>("aoti_torch_get_numel");
  get_type = torch.function<TypeFunction>("aoti_torch_get_dtype");
  get_device_type = torch.function<TypeFunction>("aoti_torch_get_device_type");
  const auto layout_strided = torch.function<LayoutFunction>("aoti_torch_layout_strided");
  get_layout = layout_strided != nullptr ? torch.function<TypeFunction>("aoti_torch_get_layout") : nullptr;
  if (get_layout != nullptr) strided = layout_strided();
  if (get_numel != nullptr && get_type != nullptr) return true;
  get_numel = nullptr;
  return false;
}

trace::DataType data_type_of(std::int32_t scalar_type) {
  if (scalar_type < 0 || static_cast<std::size_t>(scalar_type) >= kScalarTypes.size())
    return trace::DataType::unknown;
  return kScalarTypes[static_cast<std::size_t>(scalar_type)].type;
}

std::uint32_t element_bytes(std::int32_t scalar_type) {
  if (scalar_type < 0 || static_cast<std::size_t>(scalar_type) >= kScalarTypes.size()) return 0;
  return kScalarTypes[static_cast<std::size_t>(scalar_type)].bytes;
}

TensorSize size_of(const TensorSlot* tensor) {
  std::int64_t elements = 0;
  std::int32_t type = -1;
  if (get_numel == nullptr || tensor == nullptr || tensor->implementation == nullptr) return {};
  if (get_numel(tensor, &elements) != 0 || get_type(tensor, &type) != 0 || elements < 0) return {};
  TensorSize size{static_cast<std::uint64_t>(elements) * element_bytes(type), data_type_of(type),
                  elements > 0 && is_on_device(tensor)};
  if (elements > 0 && !is_dense(tensor)) size.bytes.reset();
  return size;
}

TensorSize size_of(const TensorList* tensors) {
  TensorSize together;
  if (tensors == nullptr) return together;
  for (const TensorSlot* tensor = tensors->begin; tensor != tensors->end; ++tensor) {
    const TensorSize size = size_of(tensor);
    if (tensor == tensors->begin) together.data_type = size.data_type;
    add(size, together);
  }
  return together;
}

TensorSize size_of(const TensorLists* lists) {
  TensorSize together;
  if (lists == nullptr) return together;
  for (const TensorList* list = lists->begin; list != lists->end; ++list) {
    const TensorSize size = size_of(list);
    if (list == lists->begin) together.data_type = size.data_type;
    add(size, together);
  }
  return together;
}

}  // namespace lockstep::tracer::pytorch
