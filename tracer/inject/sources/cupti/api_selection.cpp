#include "tracer/inject/sources/cupti/api_selection.h"

#include "base/numbers.h"

namespace lockstep::tracer::cupti {

std::string_view plain_call_name(std::string_view name) {
  const std::size_t version = name.rfind("_v");
  if (version != std::string_view::npos && all_digits(name.substr(version + 2))) {
    name = name.substr(0, version);
  }
  for (const std::string_view flavour : {"_ptsz", "_ptds"}) {
    if (name.ends_with(flavour)) name.remove_suffix(flavour.size());
  }
  // The driver's: cuMemcpyAsync_v2_ptsz.
  if (name.size() > 3 && name.ends_with("_v2")) name.remove_suffix(3);
  return name;
}

bool is_recorded_by_default(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);  // __cudaLaunchKernel
  if (name.starts_with("cuda") || name.starts_with("cu64")) {
    name.remove_prefix(4);
  } else if (name.starts_with("cu")) {
    name.remove_prefix(2);
  } else {
    return false;
  }
  // Making and changing nodes of graphs is not launching: that is cudaGraphLaunch. Uploading one moves
  // memory.
  if (name.starts_with("Graph")) return name == "GraphLaunch" || name == "GraphUpload";
  return name.starts_with("Launch") || name.starts_with("Memcpy") || name.starts_with("Memset") ||
         name.starts_with("MemPrefetch") || name.ends_with("Synchronize");
}

void ApiSelection::read(const Api& api) {
  calls_ = {};
  if (api.get_callback_name == nullptr) return;
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    std::vector<Call>& calls = calls_[domain == CUPTI_CB_DOMAIN_RUNTIME_API ? 0 : 1];
    std::uint32_t last = 0;
    calls.resize(kMaxCalls);
    for (std::uint32_t number = 1; number < kMaxCalls; ++number) {
      const char* name = nullptr;
      if (api.get_callback_name(domain, number, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      calls[number].name = plain_call_name(name);
      calls[number].selected = is_recorded_by_default(calls[number].name);
      last = number;
    }
    calls.resize(last + 1);
  }
}

const ApiSelection::Call* ApiSelection::find(CUpti_ActivityKind kind, std::uint32_t call) const {
  if (kind != CUPTI_ACTIVITY_KIND_RUNTIME && kind != CUPTI_ACTIVITY_KIND_DRIVER) return nullptr;
  const std::vector<Call>& calls = calls_[kind == CUPTI_ACTIVITY_KIND_RUNTIME ? 0 : 1];
  return call < calls.size() ? &calls[call] : nullptr;
}

std::string_view ApiSelection::name(CUpti_ActivityKind kind, std::uint32_t call) const {
  const Call* const found = find(kind, call);
  return found != nullptr ? std::string_view(found->name) : std::string_view();
}

bool ApiSelection::selected(CUpti_ActivityKind kind, std::uint32_t call) const {
  const Call* const found = find(kind, call);
  return found != nullptr && found->selected;
}

std::vector<std::uint32_t> ApiSelection::all_selected(CUpti_ActivityKind kind) const {
  std::vector<std::uint32_t> numbers;
  if (kind != CUPTI_ACTIVITY_KIND_RUNTIME && kind != CUPTI_ACTIVITY_KIND_DRIVER) return numbers;
  const std::vector<Call>& calls = calls_[kind == CUPTI_ACTIVITY_KIND_RUNTIME ? 0 : 1];
  for (std::uint32_t number = 0; number < calls.size(); ++number) {
    if (calls[number].selected) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace lockstep::tracer::cupti
