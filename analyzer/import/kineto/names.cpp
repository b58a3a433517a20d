#include "analyzer/import/kineto/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace lockstep::analyzer::kineto {
namespace {

using trace::DataType;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_';
}

// `part` is in lower case.
bool contains_any_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

// ^(void )?((nccl|rccl|msccl)\w*Kernel|mscclpp::)
bool is_communication_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (name.starts_with("mscclpp::")) return true;  // a namespace of kernels of its own names
  if (name.starts_with("nccl") || name.starts_with("rccl")) {
    name.remove_prefix(4);
  } else if (name.starts_with("msccl")) {
    name.remove_prefix(5);
  } else {
    return false;
  }
  const auto word_end = std::find_if_not(name.begin(), name.end(), is_word);
  return name.substr(0, static_cast<std::size_t>(word_end - name.begin())).find("Kernel") !=
         std::string_view::npos;
}

}  // namespace

Category category_of(std::string_view cat) {
  static constexpr std::array<std::pair<std::string_view, Category>, 22> kCategories{{
      {"kernel", Category::kernel},
      {"cpu_op", Category::host},
      {"cuda_runtime", Category::launch},
      {"gpu_memcpy", Category::copy},
      {"gpu_memset", Category::copy},
      {"cuda_driver", Category::launch},
      {"user_annotation", Category::host},
      {"python_function", Category::host},
      {"cuda_sync", Category::sync},
      {"xpu_runtime", Category::launch},
      {"xpu_driver", Category::launch},
      {"hip_runtime", Category::launch},
      {"hip_driver", Category::launch},
      {"mtia_runtime", Category::launch},
      {"privateuse1_runtime", Category::launch},
      {"privateuse1_driver", Category::launch},
      {"Kernel", Category::kernel},
      {"Memcpy", Category::copy},
      {"Memset", Category::copy},
      {"Runtime", Category::launch},
      {"Operator", Category::host},
      {"Python function", Category::host},
  }};
  for (const auto& [text, category] : kCategories)
    if (text == cat) return category;
  return Category::other;
}

KernelKind kernel_kind(std::string_view name) {
  if (is_communication_kernel(name)) return KernelKind::communication;
  for (const std::string_view part :
       {"nccl", "rccl", "msccl", "allreduce", "all_reduce", "allgather", "all_gather", "reducescatter",
        "reduce_scatter", "alltoall", "all_to_all"})
    if (contains_any_case(name, part)) return KernelKind::unclassified;
  return KernelKind::compute;
}

std::optional<std::int64_t> profiler_step(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

bool is_communication_range(std::string_view name) {
  return name.starts_with("nccl:");
}

bool launches_work(std::string_view name) {
  for (const std::string_view part : {"launch", "memcpy", "memset", "enqueue", "prefetch"})
    if (contains_any_case(name, part)) return true;
  return false;
}

}  // namespace lockstep::analyzer::kineto
