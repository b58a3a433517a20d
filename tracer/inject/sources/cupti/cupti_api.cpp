#include "tracer/inject/sources/cupti/cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

namespace lockstep::tracer::cupti {

namespace {

constexpr std::string_view kName = "libcupti.so";

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string_view folder(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

int add_library(dl_phdr_info* info, std::size_t, void* libraries) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
    static_cast<std::vector<std::string>*>(libraries)->emplace_back(info->dlpi_name);
  }
  return 0;
}

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

std::string loader_error() {
  const char* const error = dlerror();  // NOLINT(concurrency-mt-unsafe): one per thread in glibc
  return error != nullptr ? error : "unknown error";
}

}  // namespace

bool Api::is_usable() const noexcept {
  return version >= kOldestVersion && register_callbacks != nullptr && enable != nullptr &&
         get_next_record != nullptr && flush_all != nullptr && register_timestamp_callback != nullptr;
}

std::string Api::describe(CUptiResult result) const {
  const char* text = nullptr;
  if (get_result_string != nullptr && get_result_string(result, &text) == CUPTI_SUCCESS && text != nullptr) {
    return text;
  }
  return "error " + std::to_string(static_cast<int>(result));
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(add_library, &libraries);
  return libraries;
}

std::vector<std::string> library_candidates(const char* wish, const std::vector<std::string>& loaded) {
  std::vector<std::string> candidates;
  const auto add = [&](std::string candidate) {
    if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
      candidates.push_back(std::move(candidate));
    }
  };
  if (wish != nullptr && wish[0] != '\0') return {wish};
  for (const std::string& library : loaded) {
    if (file_name(library).starts_with(kName)) add(library);
  }
  if (!candidates.empty()) return candidates;
  // Beside the CUDA runtime that the program uses: Python's packages of CUDA 13, and those of 11 and 12.
  for (const std::string& library : loaded) {
    if (!file_name(library).starts_with("libcudart.so") || folder(library).empty()) continue;
    add(std::string(folder(library)) + "/libcupti.so.13");
    add(std::string(folder(library)) + "/../../cuda_cupti/lib/libcupti.so.12");
    add(std::string(folder(library)) + "/../../cuda_cupti/lib/libcupti.so.11.8");
  }
  for (const char* name :
       {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so",
        "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"}) {
    add(name);
  }
  return candidates;
}

bool load_api(const std::string& library, Api& api, std::string& problem) {
  // A copy that is there already is found by its path or its SONAME; RTLD_LOCAL: ours is nobody else's
  // business.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    problem = loader_error();
    return false;
  }
  api = Api();
#define LOCKSTEP_CUPTI_LOOK_UP(member, function) look_up(handle, #function, api.member);
  LOCKSTEP_CUPTI_FUNCTIONS(LOCKSTEP_CUPTI_LOOK_UP)
#undef LOCKSTEP_CUPTI_LOOK_UP
  api.library = library;
  Dl_info info{};
  if (api.enable != nullptr && dladdr(reinterpret_cast<void*>(api.enable), &info) != 0 &&
      info.dli_fname != nullptr) {
    api.library = info.dli_fname;
  }
  if (api.get_version != nullptr) (void)api.get_version(&api.version);
  if (api.is_usable()) return true;
  problem =
      api.library + (api.version < kOldestVersion ? ": CUPTI of API version " + std::to_string(api.version) +
                                                        "; CUDA 11.8 (17) or later is needed"
                                                  : ": lacks functions of the activity API");
  // It stays loaded: nothing tells whether someone else has got hold of it since.
  return false;
}

}  // namespace lockstep::tracer::cupti
