#include "trace/events/communication_names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace lockstep::trace {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// `part` is in lower case.
bool contains_any_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

// Where "(anonymous namespace)::" or "<unnamed>::" begins at `at`: how long it is. Else 0.
std::size_t nameless_namespace(std::string_view text, std::size_t at) {
  for (const std::string_view part : {"(anonymous namespace)", "<unnamed>"})
    if (text.substr(at).starts_with(part)) return part.size();
  return 0;
}

// "deep_ep::intranode::dispatch" of "void deep_ep::intranode::dispatch<4, 768>(int4*)": namespaces and the
// function, as they stand.
std::string_view qualified(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::size_t end = 0;
  while (end < name.size() && name[end] != '(' && name[end] != '<' && name[end] != ' ') {
    ++end;
    if (end < name.size()) end += nameless_namespace(name, end);
  }
  if (end == 0) end = nameless_namespace(name, 0);
  while (end < name.size() && name[end] != '(' && name[end] != '<' && name[end] != ' ') ++end;
  return name.substr(0, end);
}

// "deep_ep::intranode::dispatch" of "_ZN7deep_ep9intranode8dispatchILi8EEEvPf": namespaces and the function,
// up to its template arguments. Empty of what is not mangled so. A demangler would have to undo what
// strangers' files hold, cut or made to grow without bound.
std::string qualified_of_mangled(std::string_view name) {
  constexpr std::string_view kNameless = "_GLOBAL__N_";
  if (!name.starts_with("_Z")) return {};
  name.remove_prefix(2);
  const bool nested = name.starts_with('N');
  if (nested || name.starts_with('L')) name.remove_prefix(1);
  std::string result;
  do {
    std::size_t length = 0, at = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && length <= name.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    if (length == 0 || length > name.size() - at) break;
    const std::string_view part = name.substr(at, length);
    result += result.empty() ? "" : "::";
    result += part.starts_with(kNameless) ? "(anonymous namespace)" : part;
    name.remove_prefix(at + length);
  } while (nested);
  return result;
}

// Whether the words of `text`, read across case and underscores, hold `part`: "all_gather" and "AllGather"
// both hold "allgather". `part` is in lower case and without underscores.
bool speaks_of(std::string_view text, std::string_view part) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    if (lower(text[begin]) != part.front()) continue;
    std::size_t at = begin, matched = 0;
    while (at < text.size() && matched < part.size()) {
      if (text[at] == '_' && matched > 0) {
        ++at;
      } else if (lower(text[at]) == part[matched]) {
        ++at, ++matched;
      } else {
        break;
      }
    }
    if (matched == part.size()) return true;
  }
  return false;
}

// How a row's text is looked for in the function's name.
enum class In : std::uint8_t { prefix, part, whole };

struct Row {
  const char* library;
  std::string_view scope;  // stands in the namespaces, or, if empty, any will do
  In how;
  std::string_view text;
  Operation operation;  // unknown: what the function's name says
  bool computes = false;
};

// The first row that fits counts.
constexpr std::array kRows{
    // NCCL's kernels of a window of symmetric memory (PyTorch's), and PyTorch's own symmetric memory.
    Row{"PyTorch symmetric memory", "c10d::nccl_extension", In::part, "", Operation::unknown},
    Row{"NVSHMEM", "c10d::nvshmem_extension", In::prefix, "exchangeSplit", Operation::all_to_all},
    Row{"NVSHMEM", "c10d::nvshmem_extension", In::part, "", Operation::unknown},
    Row{"PyTorch symmetric memory", "c10d::symmetric_memory", In::prefix, "put_signal", Operation::send},
    Row{"PyTorch symmetric memory", "c10d::symmetric_memory", In::prefix, "wait_signal", Operation::recv},
    Row{"PyTorch symmetric memory", "c10d::symmetric_memory", In::part, "", Operation::unknown},
    Row{"PyTorch symmetric memory", "", In::prefix, "multimem_", Operation::unknown},
    Row{"PyTorch", "", In::prefix, "hybridCubeMeshAllReduce", Operation::all_reduce},
    // Mixture of experts: tokens go to their experts and come back.
    Row{"DeepEP", "deep_ep::", In::whole, "dispatch", Operation::all_to_all},
    Row{"DeepEP", "deep_ep::", In::whole, "combine", Operation::all_to_all},
    Row{"DeepEP", "deep_ep::", In::part, "notify", Operation::all_to_all},
    Row{"DeepEP", "deep_ep::", In::whole, "barrier", Operation::barrier},
    Row{"DeepEP", "deep_ep::", In::whole, "barrier_impl", Operation::barrier},
    Row{"DeepEP", "deep_ep::", In::whole, "clean_low_latency_buffer", Operation::barrier},
    Row{"DeepEP", "deep_ep::", In::part, "dispatch_impl", Operation::all_to_all},
    Row{"DeepEP", "deep_ep::", In::part, "combine_impl", Operation::all_to_all},
    Row{"DeepEP", "deep_ep::", In::prefix, "pp_send", Operation::send},
    Row{"DeepEP", "deep_ep::", In::prefix, "pp_recv", Operation::recv},
    Row{"DeepEP", "hybrid_ep::", In::prefix, "dispatch_kernel", Operation::all_to_all},
    Row{"DeepEP", "hybrid_ep::", In::prefix, "combine_kernel", Operation::all_to_all},
    Row{"DeepEP", "hybrid_ep::", In::prefix, "device_sync_kernel", Operation::barrier},
    Row{"MORI", "mori::moe", In::prefix, "EpDispatch", Operation::all_to_all},
    Row{"MORI", "mori::moe", In::prefix, "EpCombine", Operation::all_to_all},
    Row{"MORI", "", In::prefix, "EpDispatchI", Operation::all_to_all},
    Row{"MORI", "", In::prefix, "EpCombineI", Operation::all_to_all},
    Row{"pplx-kernels", "", In::prefix, "a2a_dispatch_", Operation::all_to_all},
    Row{"pplx-kernels", "", In::prefix, "a2a_combine_", Operation::all_to_all},
    Row{"TensorRT-LLM", "", In::prefix, "moeA2ADispatch", Operation::all_to_all},
    Row{"TensorRT-LLM", "", In::prefix, "moeA2ACombine", Operation::all_to_all},
    Row{"TensorRT-LLM", "", In::prefix, "moeAllToAll", Operation::all_to_all},
    Row{"TensorRT-LLM", "", In::prefix, "helixAllToAll", Operation::all_to_all},
    // All-reduces of inference engines, with or without what follows them (a norm, a quantization).
    Row{"TensorRT-LLM", "", In::part, "allreduce_fusion_kernel", Operation::all_reduce},
    Row{"TensorRT-LLM", "", In::whole, "rmsNormLamport", Operation::all_reduce, true},
    Row{"vLLM, SGLang", "", In::prefix, "cross_device_reduce_", Operation::all_reduce},
    Row{"QuickReduce", "quickreduce", In::prefix, "allreduce_prototype", Operation::all_reduce},
    Row{"AITER", "aiter::", In::prefix, "allgather", Operation::all_gather},
    Row{"AITER", "aiter::", In::prefix, "reduce_scatter", Operation::reduce_scatter},
    Row{"FlashInfer", "", In::prefix, "ipc_rsag_", Operation::all_reduce},
    Row{"FlashInfer", "", In::prefix, "ipc_topo_rsag", Operation::all_reduce},
    Row{"FlashInfer", "mixed_comm", In::part, "reducescatter", Operation::reduce_scatter},
    Row{"FlashInfer", "mixed_comm", In::part, "allgather", Operation::all_gather},
    Row{"FlashInfer", "mixed_comm", In::part, "allreduce", Operation::all_reduce},
    Row{"DLSlime", "dlslime::", In::part, "alltoall", Operation::all_to_all},
    // Transformer Engine's user buffers.
    Row{"Transformer Engine", "", In::prefix, "kuserbuffers_pushsendrecv", Operation::send_recv},
    Row{"Transformer Engine", "", In::prefix, "kuserbuffers_pushsend", Operation::send},
    Row{"Transformer Engine", "", In::prefix, "kuserbuffers_pullsend", Operation::send},
    Row{"Transformer Engine", "", In::prefix, "kuserbuffers_pushrecv", Operation::recv},
    Row{"Transformer Engine", "", In::prefix, "kuserbuffers_pullrecv", Operation::recv},
    // NVSHMEM's operations on a stream.
    Row{"NVSHMEM", "", In::prefix, "barrier_on_stream_kernel", Operation::barrier},
    Row{"NVSHMEM", "", In::prefix, "sync_on_stream_kernel", Operation::barrier},
    Row{"NVSHMEM", "", In::prefix, "rdxn_on_stream_kernel", Operation::all_reduce},
    Row{"NVSHMEM", "", In::prefix, "fcollect_on_stream_kernel", Operation::all_gather},
    Row{"NVSHMEM", "", In::prefix, "broadcast_on_stream_kernel", Operation::broadcast},
    Row{"NVSHMEM", "", In::prefix, "alltoall_on_stream_kernel", Operation::all_to_all},
    Row{"NVSHMEM", "", In::prefix, "reducescatter_on_stream_kernel", Operation::reduce_scatter},
    Row{"NVSHMEM", "", In::prefix, "nvshmemi_signal_wait_until", Operation::recv},
    Row{"NVSHMEM", "", In::prefix, "nvshmemi_reduce_kernel", Operation::all_reduce},
    // Puts and gets that a proxy on the host carries out: the template arguments alone say which.
    Row{"NVSHMEM", "", In::prefix, "nvshmemi_proxy_rma_", Operation::unknown},
    Row{"MSCCL++", "", In::prefix, "allreduce_LL_", Operation::all_reduce},
    Row{"oneCCL", "", In::prefix, "oneccl_", Operation::unknown},
    Row{"UCC", "", In::prefix, "ucc_ec_cuda_", Operation::unknown},
    Row{"UCC", "", In::prefix, "allreduce_kernel_vec32", Operation::all_reduce},
    Row{"UCC", "", In::prefix, "reduce_scatter_kernel_vec32", Operation::reduce_scatter},
    Row{"UCC", "", In::prefix, "allgatherv_kernel_vec32", Operation::all_gather},
};

using Span = CommunicationName::Span;

struct Range {
  const char* library;
  std::string_view prefix;
  Span span = Span::whole;
};
constexpr std::array kRanges{
    Range{"NCCL", "nccl:"},
    Range{"RCCL", "rccl:"},
    Range{"Gloo", "gloo:"},
    Range{"UCC", "ucc:"},
    Range{"MPI", "mpi:"},
    Range{"oneCCL", "xccl:"},
    Range{"oneCCL", "ccl:"},
    Range{"oneCCL", "oneccl_bindings_for_pytorch::", Span::call},
    Range{"oneCCL", "torch_ccl::", Span::call},
    Range{"PyTorch", "c10d::", Span::issue},
    Range{"PyTorch", "_c10d_functional::", Span::issue},
    Range{"PyTorch", "c10d_functional::", Span::issue},  // up to PyTorch 2.2
    Range{"MPI", "MPI_"},
    Range{"PyTorch symmetric memory", "symm_mem::", Span::call},
    Range{"vLLM", "vllm::all_reduce", Span::call},
    Range{"vLLM", "vllm::all_gather", Span::call},
    Range{"vLLM", "vllm::reduce_scatter", Span::call},
};

constexpr std::array kCollectives{"reducescatter", "allreduce", "allgather", "alltoall"};

bool speaks_of_a_collective(std::string_view name) {
  return std::any_of(kCollectives.begin(), kCollectives.end(),
                     [&](const char* collective) { return speaks_of(name, collective); });
}

// `triton_poi_fused_add_all_reduce_4`: Inductor names a kernel after the operators around it, and none that
// it makes communicates.
bool is_of_inductor(std::string_view function) {
  return function.starts_with("triton_") && function.find("_fused_") != std::string_view::npos;
}

// "nccl…Kernel", "rccl…Kernel", "msccl…Kernel".
const char* nccl_like(std::string_view function) {
  if (function.find("Kernel") == std::string_view::npos) return nullptr;
  if (function.starts_with("nccl")) return "NCCL";
  if (function.starts_with("rccl")) return "RCCL";
  if (function.starts_with("msccl")) return "MSCCL";
  return nullptr;
}

// "allreduce7", "allgather6": MSCCL++'s examples number them.
bool is_numbered_collective(std::string_view function) {
  for (const std::string_view collective : {"allreduce", "allgather"})
    if (function.starts_with(collective) && function.size() > collective.size())
      return function.find_first_not_of("0123456789", collective.size()) == std::string_view::npos;
  return false;
}

// Of MPI, what moves no data between ranks, or does so once: communicators, types, files, and asking.
constexpr std::array<std::string_view, 22> kBesideMessages{
    "MPI_Init",  "MPI_Finalize",  "MPI_Abort",      "MPI_Comm_",     "MPI_Group_",   "MPI_Type_",
    "MPI_Op_",   "MPI_Request_",  "MPI_Status_",    "MPI_Info_",     "MPI_Get_",     "MPI_Err",
    "MPI_Attr_", "MPI_Cart_",     "MPI_Win_create", "MPI_Win_alloc", "MPI_Win_free", "MPI_File_",
    "MPI_Pack",  "MPI_Alloc_mem", "MPI_Free_mem",   "MPI_Wtime"};

bool is_mpi_beside_messages(std::string_view name) {
  return name.starts_with("MPI_") &&
         std::ranges::any_of(kBesideMessages, [&](std::string_view call) { return name.starts_with(call); });
}

bool fits(const Row& row, std::string_view scope, std::string_view function) {
  if (!row.scope.empty() && scope.find(row.scope) == std::string_view::npos) return false;
  switch (row.how) {
    case In::prefix:
      return function.starts_with(row.text);
    case In::part:
      return function.find(row.text) != std::string_view::npos;
    case In::whole:
      return function == row.text;
  }
  return false;
}

// Transformer Engine: "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop" scatters, "…_mc_ag" gathers.
Operation userbuffers_operation(std::string_view function) {
  if (function.find("_rs") != std::string_view::npos) return Operation::reduce_scatter;
  return function.find("_ag") != std::string_view::npos ? Operation::all_gather : Operation::all_reduce;
}

// Of a kernel of CUTLASS only the template arguments tell what it is made of.
std::optional<CommunicationName> cutlass_kernel(std::string_view name) {
  static constexpr std::array<std::pair<const char*, Operation>, 4> kFused{
      {{"reducescatter", Operation::reduce_scatter},
       {"allreduce", Operation::all_reduce},
       {"allgather", Operation::all_gather},
       {"alltoall", Operation::all_to_all}}};
  for (const auto& [collective, operation] : kFused)
    if (speaks_of(name, collective)) return CommunicationName{operation, "CUTLASS", true};
  return std::nullopt;
}

// A GEMM and a collective by the words of one function: `_fused_matmul_reduce_scatter_kernel`.
bool computes_too(std::string_view function) {
  return speaks_of(function, "gemm") || speaks_of(function, "matmul");
}

}  // namespace

Operation operation_in_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Operation>, 13> kOperations{{
      {"barrier", Operation::barrier},  // before allreduce: `all_reduce_barrier`
      {"reducescatter", Operation::reduce_scatter},
      {"allreduce", Operation::all_reduce},
      {"allgather", Operation::all_gather},
      {"alltoall", Operation::all_to_all},
      {"broadcast", Operation::broadcast},
      {"bcast", Operation::broadcast},
      {"sendrecv", Operation::send_recv},
      {"scatter", Operation::scatter},
      {"gather", Operation::gather},
      {"reduce", Operation::reduce},
      {"send", Operation::send},
      {"recv", Operation::recv},
  }};
  const std::string mangled = qualified_of_mangled(name);
  const std::string_view text = mangled.empty() ? qualified(name) : mangled;
  for (const auto& [part, operation] : kOperations)
    if (speaks_of(text, part)) return operation;
  return Operation::unknown;
}

std::optional<CommunicationName> communication_kernel(std::string_view name) {
  const std::string mangled = qualified_of_mangled(name);
  const std::string_view full = mangled.empty() ? qualified(name) : mangled;
  const std::size_t colons = full.rfind("::");
  const std::string_view scope = colons == std::string_view::npos ? "" : full.substr(0, colons + 2);
  const std::string_view function = full.substr(scope.size());
  if (function.empty() || is_of_inductor(function)) return std::nullopt;
  if (scope.empty())
    if (const char* const library = nccl_like(function))
      return CommunicationName{operation_in_name(function), library};
  if (scope.starts_with("cutlass::")) return cutlass_kernel(name);
  if (full.starts_with("mscclpp::")) return CommunicationName{operation_in_name(full), "MSCCL++"};
  if (function.starts_with("userbuffers_"))
    return CommunicationName{userbuffers_operation(function), "Transformer Engine"};
  // UCC's stays on the device for as long as a collective lasts; only its parameters tell whose it is.
  if (function == "executor_kernel" && name.find("ucc_ec_cuda_executor") != std::string_view::npos)
    return CommunicationName{Operation::unknown, "UCC"};
  for (const Row& row : kRows) {
    if (!fits(row, scope, function)) continue;
    const Operation operation =
        row.operation == Operation::unknown ? operation_in_name(function) : row.operation;
    return CommunicationName{operation, row.library, row.computes || computes_too(function)};
  }
  if (!speaks_of_a_collective(function)) return std::nullopt;
  if (is_numbered_collective(function)) return CommunicationName{operation_in_name(function), "MSCCL++"};
  if (computes_too(function)) return CommunicationName{operation_in_name(function), "fused GEMM", true};
  // `oneShotAllReduceKernel`, `two_shot_all_reduce_kernel_inplace`: PyTorch's, TensorRT-LLM's, SGLang's, …
  if (speaks_of(function, "oneshot") || speaks_of(function, "twoshot"))
    return CommunicationName{operation_in_name(function), "one- or two-shot all-reduce"};
  return std::nullopt;
}

std::optional<CommunicationName> communication_range(std::string_view name) {
  if (name.empty() || is_mpi_beside_messages(name)) return std::nullopt;
  for (const Range& range : kRanges)
    if (name.front() == range.prefix.front() && name.starts_with(range.prefix))
      return CommunicationName{operation_in_name(name), range.library, false, range.span};
  return std::nullopt;
}

bool looks_like_communication(std::string_view name) {
  if (is_of_inductor(qualified(name))) return false;
  for (const std::string_view part : {"nccl", "rccl", "msccl", "nvshmem"})
    if (contains_any_case(name, part)) return true;
  return speaks_of_a_collective(name);
}

}  // namespace lockstep::trace
