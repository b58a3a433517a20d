// Stands in for libtorch's CUDA half where there is no GPU: preloaded into lockstep-train, it speaks c10's
// device interface as CUDA does (a guard with streams and events, an allocator, kernels under the
// dispatcher's key CUDA), and computes with the CPU's kernels, at once, on memory of the host. So all of
// --device cuda runs but the GPU: every tensor must be on the right device, every transport must know what it
// can read, and autograd runs on a thread of its own, as it does for a GPU. It has two devices, and says
// nothing about time.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <vector>

namespace {

constexpr c10::DeviceType kCuda = c10::DeviceType::CUDA;
constexpr c10::DeviceIndex kDevices = 2;

thread_local c10::DeviceIndex current_device = 0;
thread_local c10::StreamId current_streams[kDevices] = {};
std::atomic<c10::StreamId> next_stream{1};

c10::Stream stream_of(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kCuda, device), id);
}

// All work is done when it is issued: events have nothing to wait for.
class Guard : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kCuda; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    current_device = device.index();
    return before;
  }
  c10::Device getDevice() const override { return {kCuda, current_device}; }
  void setDevice(c10::Device device) const override { current_device = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current_device = device.index(); }
  c10::Stream getStream(c10::Device device) const override {
    const c10::DeviceIndex index = device.has_index() ? device.index() : current_device;
    return stream_of(index, current_streams[index]);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return stream_of(device.index(), 0); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return stream_of(device.index(), next_stream++);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    current_streams[stream.device_index()] = stream.id();
    return before;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    static int recorded;
    *event = &recorded;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void synchronizeStream(const c10::Stream&) const override {}
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

// What libtorch asks of CUDA besides. It looks for this name.
class CUDAHooks : public at::CUDAHooksInterface {
 public:
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kDevices; }
  int getNumGPUs() const override { return kDevices; }
  c10::DeviceIndex getCurrentDevice() const override { return ::current_device; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
};

class HostMemory : public c10::Allocator {
 public:
  at::DataPtr allocate(std::size_t bytes) override {
    void* const memory = bytes == 0 ? nullptr : std::malloc(bytes);
    return {memory, memory, &std::free, c10::Device(kCuda, current_device)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &std::free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};
HostMemory memory;
REGISTER_ALLOCATOR(kCuda, &memory)

// The same memory as a tensor of the CPU.
at::Tensor on_cpu(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  TORCH_CHECK(tensor.numel() == 0 || tensor.storage().data() != nullptr,
              "a tensor without memory is read: it was given back");
  // One to write a result of any size to.
  if (tensor.numel() == 0) return at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
  // Of the whole storage, so that offsets into it are the same.
  const auto elements = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.element_size());
  return at::from_blob(tensor.storage().mutable_data(), {elements}, tensor.options().device(at::kCPU))
      .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

at::Tensor empty(c10::SymIntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard on(device.value_or(c10::Device(kCuda, current_device)));
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(size), &memory,
                                   c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::dtype_or_default(type),
                                   format);
}

at::Tensor empty_strided(c10::SymIntArrayRef size, c10::SymIntArrayRef strides,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard on(device.value_or(c10::Device(kCuda, current_device)));
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(strides),
                                           &memory, c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(type));
}

at::Tensor& copy(at::Tensor& self, const at::Tensor& from, bool) {
  on_cpu(self).copy_(on_cpu(from));
  return self;
}

// Not the GPU's own kernels, which the CPU does not have.
std::int64_t attention_by_products(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                   const std::optional<at::Tensor>&, double, bool, std::optional<double>,
                                   bool) {
  return 0;
}

// `tensor` becomes what `made`, on the CPU, is.
void take_over(const at::Tensor& tensor, const at::Tensor& made) {
  if (tensor.sizes() == made.sizes()) return;
  const at::Tensor on_device = made.to(tensor.device());
  tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(on_device.storage());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(on_device.sizes(), on_device.strides());
}

// Any other operation: the CPU's, on the same memory. What it makes is copied to the device; what it gives
// back of its arguments, or of a view of them, is the device's.
void compute_on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const std::size_t count = operation.schema().arguments().size();
  const std::size_t first = stack->size() - count;
  std::vector<at::Tensor> device_tensors, cpu_tensors;
  std::optional<c10::Device> device;
  bool host_tensor = false;  // a number as a tensor goes with any device
  const auto lend = [&](const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!tensor.is_cuda()) {
      host_tensor = host_tensor || tensor.dim() > 0;
      return tensor;
    }
    device = tensor.device();
    device_tensors.push_back(tensor);
    cpu_tensors.push_back(on_cpu(tensor));
    return cpu_tensors.back();
  };
  for (std::size_t i = first; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = lend(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(lend(tensor));
      value = list;
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        if (tensor.has_value())
          list.push_back(lend(*tensor));
        else
          list.push_back(tensor);
      }
      value = list;
    } else if (value.isDevice()) {
      device = value.toDevice();
      value = c10::Device(at::kCPU);
    }
  }
  TORCH_CHECK(cpu_tensors.empty() || !host_tensor, operation.schema().name(),
              ": some tensors are on the device and some on the host");
  operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  const std::size_t results = operation.schema().returns().size();
  for (std::size_t i = stack->size() - results; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor made = value.toTensor();
    at::Tensor result;
    for (std::size_t j = 0; j < cpu_tensors.size() && !result.defined(); ++j) {
      if (made.is_same(cpu_tensors[j])) {
        result = device_tensors[j];
        take_over(result, made);
      } else if (made.storage().is_alias_of(cpu_tensors[j].storage())) {
        result = at::native::as_strided_tensorimpl(device_tensors[j], made.sizes(), made.strides(),
                                                   made.storage_offset());
      }
    }
    if (!result.defined()) result = made.to(device.value_or(c10::Device(kCuda, current_device)));
    value = result;
  }
}

}  // namespace

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute_on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy);
  library.impl("_fused_sdp_choice", &attention_by_products);
}
