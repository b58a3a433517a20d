#include "tracer/recorder/telling_environment.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace lockstep::tracer::record {
namespace {

constexpr std::size_t kMaxValue = 1024;

constexpr std::array<std::string_view, 21> kBeginnings{
    "NCCL_",         "RCCL_",          "GLOO_",
    "UCX_",          "UCC_",           "FI_",
    "TORCH_NCCL_",   "TORCH_FR_",      "TORCH_DISTRIBUTED_",
    "TORCH_COMPILE", "TORCHINDUCTOR_", "PYTORCH_",
    "TRITON_",       "CUDA_",          "CUBLAS_",
    "CUDNN_",        "NVIDIA_TF32",    "OMP_",
    "MKL_",          "KMP_",           "OPENBLAS_"};
constexpr std::array<std::string_view, 5> kSecrets{"TOKEN", "SECRET", "PASSW", "CREDENTIAL", "API_KEY"};

bool tells(std::string_view name) {
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); }) &&
         std::none_of(kSecrets.begin(), kSecrets.end(),
                      [&](std::string_view secret) { return name.find(secret) != std::string_view::npos; });
}

}  // namespace

std::map<std::string, std::string> telling_environment(const char* const* environment) {
  std::map<std::string, std::string> kept;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || !tells(variable.substr(0, equals))) continue;
    kept.emplace(variable.substr(0, equals), variable.substr(equals + 1, kMaxValue));
  }
  return kept;
}

}  // namespace lockstep::tracer::record
