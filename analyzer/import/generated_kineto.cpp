#include "analyzer/import/generated_kineto.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <string_view>

namespace lockstep::analyzer {
namespace {

constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;
constexpr int kLayers = 24;
constexpr int kKernelsPerLayer = 12;

// In the manner of real ones: a few short, most long, hundreds of characters of template arguments.
constexpr std::array<std::string_view, 8> kKernels{
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
    "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 11, false, "
    "true>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)",
    "void at::native::elementwise_kernel<128, 4, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() "
    "const::{lambda(float)#1}>("
    "at::TensorIteratorBase&, "
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
    "const::{lambda()#7}::operator()() const::{lambda(float)#1} const&)::{lambda(int)#1}>(int, "
    "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{"
    "lambda()#3}>)",
    "sm80_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize64x64x64_stage4_warpsize2x2x1_tensor16x8x16_kernel",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float, float, "
    "float>, unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::NormTwoOps<float, float, "
    "float>, unsigned int, float, 4>)",
    "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<4>, "
    "at::native::FusedAdamMathFunctor<float, 4>, double, double>(at::native::TensorListMetadata<4>, "
    "at::native::FusedAdamMathFunctor<float, 4>, double, double)"};
constexpr std::array<std::string_view, 8> kOperators{
    "aten::linear",     "aten::addmm",
    "aten::layer_norm", "aten::matmul",
    "aten::softmax",    "aten::empty_strided",
    "aten::copy_",      "autograd::engine::evaluate_function: AddmmBackward0"};

class Writer {
 public:
  Writer(std::FILE* file, const GeneratedKineto& what) : file_(file), what_(what), random_(what.rank + 1) {}

  GeneratedCounts run() {
    put("{{\n"
        "  \"schemaVersion\": 1,\n"
        "  \"deviceProperties\": [\n"
        "    {{\n"
        "      \"id\": 0, \"name\": \"Generated\", \"numSms\": 108\n"
        "    }}\n"
        "  ],\n"
        "  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n"
        "  \"displayTimeUnit\": \"ms\",\n"
        "  \"baseTimeNanoseconds\": {},\n"
        "  \"traceEvents\": [",
        what_.rank, what_.world_size, kBaseNs);
    while (written_ + text_.size() < what_.least_bytes || counts_.steps == 0) step();
    put("\n  ],\n  \"traceName\": \"generated.json\"\n}}\n");
    flush();
    counts_.bytes = written_;
    return counts_;
  }
  bool failed() const { return failed_; }

 private:
  template <class... A>
  void put(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(arguments)...);
    if (text_.size() > (std::size_t{1} << 20)) flush();
  }
  void flush() {
    failed_ |= std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size();
    written_ += text_.size();
    text_.clear();
  }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }
  std::string us(std::int64_t ns) const {
    return what_.whole_microseconds ? fmt::format("{}", ns / 1000)
                                    : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }
  void begin_event() {
    put("{}\n  {{\n    ", counts_.events == 0 ? "" : ",");
    ++counts_.events;
  }

  void operation(std::string_view name, std::int64_t begin, std::int64_t duration) {
    begin_event();
    put("\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": 4711, \"tid\": 4711,\n"
        "    \"ts\": {}, \"dur\": {},\n"
        "    \"args\": {{\n"
        "      \"External id\": {},\"Record function id\": 0, \"Sequence number\": {}, \"Fwd thread id\": 0, "
        "\"Ev Idx\": {}\n"
        "    }}\n"
        "  }}",
        name, us(begin), us(duration), counts_.events, counts_.events / 3, counts_.events);
  }
  void call(std::string_view name, std::int64_t begin, std::int64_t duration, std::int64_t correlation) {
    begin_event();
    put("\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"{}\", \"pid\": 4711, \"tid\": 4711,\n"
        "    \"ts\": {}, \"dur\": {},\n"
        "    \"args\": {{\n"
        "      \"External id\": {}, \"cbid\": 211, \"correlation\": {}\n"
        "    }}\n"
        "  }}",
        name, us(begin), us(duration), counts_.events, correlation);
  }
  void arrow(char phase, std::int64_t pid, std::int64_t tid, std::int64_t time, std::int64_t correlation) {
    begin_event();
    put("\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": "
        "\"ac2g\"{}\n  }}",
        phase, correlation, pid, tid, us(time), phase == 'f' ? ", \"bp\": \"e\"" : "");
  }
  void device(std::string_view category, std::string_view name, int stream, std::int64_t begin,
              std::int64_t duration, std::int64_t correlation, std::string_view more) {
    begin_event();
    put("\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": 0, \"tid\": {},\n    \"ts\": {}, "
        "\"dur\": {},\n"
        "    \"args\": {{\n      \"External id\": {},\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n"
        "      \"stream\": {}, \"correlation\": {},\n      {}\n    }}\n  }}",
        category, name, stream, us(begin), us(duration), counts_.events, stream, correlation, more);
    arrow('f', 0, stream, begin, correlation);
  }
  void kernel(std::string_view name, int stream, std::int64_t& device_time, std::int64_t duration,
              std::string_view more) {
    ++correlation_;
    operation(kOperators[static_cast<std::size_t>(below(8))], host_, 20'000);
    operation(kOperators[static_cast<std::size_t>(below(8))], host_ + 1'200, 16'000);
    operation("aten::empty", host_ + 1'900, 800);
    call("cudaStreamIsCapturing", host_ + 3'000, 400, ++correlation_);
    call("cudaLaunchKernel", host_ + 4'000, 3'000 + below(2'000), ++correlation_);
    arrow('s', 4711, 4711, host_ + 4'000, correlation_);
    device_time = std::max(device_time, host_ + 9'000);
    device(
        "kernel", name, stream, device_time, duration, correlation_,
        fmt::format(
            "\"registers per thread\": {},\n      \"shared memory\": 41760,\n      \"blocks per SM\": "
            "1.185185,\n"
            "      \"warps per SM\": 9.481482,\n      \"grid\": [{}, 1, 1],\n      \"block\": [256, 1, 1],\n"
            "      \"est. achieved occupancy %\": {}{}",
            32 + below(200), 1 + below(4096), below(100), more));
    ++counts_.kernels;
    device_time += duration + 500;
    host_ += 22'000 + below(3'000);
  }
  void all_reduce() {
    const std::int64_t elements = 1'000'000 + below(9'000'000);
    communication_ = std::max(communication_, compute_);
    kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 20, communication_,
           200'000 + below(400'000),
           fmt::format(",\n"
                       "      \"Collective name\": \"allreduce\", \"In msg nelems\": {0}, \"Out msg "
                       "nelems\": {0}, \"Group size\": {1}, \"dtype\": \"BFloat16\", \"In split size\": "
                       "\"[]\", \"Out split size\": \"[]\", \"Process Group Name\": \"0\", \"Process Group "
                       "Description\": \"default_pg\", \"Process Group Ranks\": \"{2}\", \"Seq\": {3}",
                       elements, what_.world_size, ranks(), counts_.all_reduces));
    ++counts_.all_reduces;
  }
  std::string ranks() const {
    std::string list = "[";
    for (std::int32_t i = 0; i < std::min(what_.world_size, 30); ++i)
      list += fmt::format("{}{}", i == 0 ? "" : ", ", i);
    return list + (what_.world_size > 30 ? ", ...]" : "]");
  }
  void step() {
    const std::int64_t begin = host_;
    ++correlation_;
    call("cudaMemcpyAsync", host_, 6'000, correlation_);
    arrow('s', 4711, 4711, host_, correlation_);
    device("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, std::max(compute_, host_ + 5'000), 12'000,
           correlation_, "\"bytes\": 1048576, \"memory bandwidth (GB/s)\": 87.38133333333333");
    ++counts_.copies;
    compute_ = std::max(compute_, host_ + 5'000) + 12'500;
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int i = 0; i < kKernelsPerLayer; ++i)
        kernel(kKernels[static_cast<std::size_t>(below(8))], 7, compute_, 5'000 + below(60'000), "");
      if (layer % 4 == 3) all_reduce();
    }
    begin_event();
    put("\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#{}\", \"pid\": 4711, \"tid\": "
        "4711,\n"
        "    \"ts\": {}, \"dur\": {},\n"
        "    \"args\": {{\n"
        "      \"External id\": 1, \"Ev Idx\": 0\n"
        "    }}\n"
        "  }}",
        counts_.steps, us(begin), us(host_ - begin));
    ++counts_.steps;
    host_ += 5'000;
  }

  std::FILE* file_;
  const GeneratedKineto& what_;
  std::mt19937_64 random_;
  fmt::memory_buffer text_;
  GeneratedCounts counts_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
  std::int64_t host_ = 1'000'000'000, compute_ = 0, communication_ = 0, correlation_ = 1000;
};

}  // namespace

Result<GeneratedCounts> generate_kineto(const std::filesystem::path& path, const GeneratedKineto& what) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (file == nullptr) return Error{fmt::format("{}: can't be written", path.string())};
  Writer writer(file.get(), what);
  const GeneratedCounts counts = writer.run();
  if (writer.failed() || std::fflush(file.get()) != 0)
    return Error{fmt::format("{}: writing failed (disk full?)", path.string())};
  return counts;
}

}  // namespace lockstep::analyzer
