// at::RecordFunction's observers as torch 2.4 to 2.11 lay them out: what user_ranges and recorded_operators
// share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::tracer::pytorch {

// std::unique_ptr<ObserverContext>: comes back in memory, since it has a destructor.
struct NoContext {
  void* context = nullptr;
  NoContext() = default;
  NoContext(const NoContext& other) noexcept
      : context(other.context) {}  // NOLINT(modernize-use-equals-default)
  ~NoContext() {}                  // NOLINT(modernize-use-equals-default)
};

// at::RecordFunctionCallback.
inline constexpr std::size_t kScopes = 10;
inline constexpr std::size_t kOperatorScope = 0;
inline constexpr std::size_t kBackwardScope = 1;
inline constexpr std::size_t kUserScope = 7;
struct Callback {
  NoContext (*start)(const void* function) = nullptr;
  void (*end)(const void* function, void* context) = nullptr;
  double sampling_probability = 1.0;
  bool scopes[kScopes] = {};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
};
static_assert(sizeof(Callback) == 40);

using AddGlobalCallback = std::uint64_t (*)(Callback);
inline constexpr const char* kAddGlobalCallback = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE";
using NameOf = const char* (*)(const void* function);
inline constexpr const char* kNameOf = "_ZNK2at14RecordFunction4nameEv";

}  // namespace lockstep::tracer::pytorch
