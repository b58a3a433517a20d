// CUPTI's functions, looked up at run time: nothing links CUPTI, a program without CUDA never sees it, and an
// older copy may lack what a newer one has.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::tracer::cupti {

// Each may be missing (nullptr) but those that is_usable() asks for.
#define LOCKSTEP_CUPTI_FUNCTIONS(X)                                      \
  X(get_version, cuptiGetVersion)                                        \
  X(get_result_string, cuptiGetResultString)                             \
  X(get_callback_name, cuptiGetCallbackName)                             \
  X(register_callbacks, cuptiActivityRegisterCallbacks)                  \
  X(register_timestamp_callback, cuptiActivityRegisterTimestampCallback) \
  X(enable, cuptiActivityEnable)                                         \
  X(disable, cuptiActivityDisable)                                       \
  X(enable_runtime_api, cuptiActivityEnableRuntimeApi)                   \
  X(enable_driver_api, cuptiActivityEnableDriverApi)                     \
  X(enable_all_sync_records, cuptiActivityEnableAllSyncRecords)          \
  X(set_thread_id_type, cuptiSetThreadIdType)                            \
  X(get_attribute, cuptiActivityGetAttribute)                            \
  X(set_attribute, cuptiActivitySetAttribute)                            \
  X(get_next_record, cuptiActivityGetNextRecord)                         \
  X(get_dropped_records, cuptiActivityGetNumDroppedRecords)              \
  X(flush_all, cuptiActivityFlushAll)

// The headers of an older toolkit lack functions that the library on the machine may have.
extern "C" {
#if CUPTI_API_VERSION < 24
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable);
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable);
#endif
#if CUPTI_API_VERSION < 26
CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t enable);
#endif
}

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name can't have any
#define LOCKSTEP_CUPTI_MEMBER(member, function) decltype(&::function) member = nullptr;
  LOCKSTEP_CUPTI_FUNCTIONS(LOCKSTEP_CUPTI_MEMBER)
#undef LOCKSTEP_CUPTI_MEMBER
  std::uint32_t version = 0;  // of the loaded library: 130001 is CUDA 13.0, 18 to 28 are CUDA 12, 17 is 11.8
  std::string library;        // its path

  // CUDA 11.8 and later, with all that is needed to get records at all.
  bool is_usable() const noexcept;
  // "CUPTI_ERROR_NOT_INITIALIZED", or a number.
  std::string describe(CUptiResult result) const;
};

// Before this version a request for a buffer that is turned down may crash CUPTI.
inline constexpr std::uint32_t kMayTurnDownRequests = 27;
inline constexpr std::uint32_t kOldestVersion = 17;

// Where to look for CUPTI, best first: LOCKSTEP_CUPTI (a path) alone, if it is set; the copy that is in the
// process already alone, if there is one, since two get into each other's way; else by name and in the places
// of toolkits and of Python's packages. `loaded` are the paths of the libraries in the process.
std::vector<std::string> library_candidates(const char* wish, const std::vector<std::string>& loaded);
std::vector<std::string> loaded_libraries();

// Loads a library and looks its functions up. False, with the reason, if it is not there or is not usable.
bool load_api(const std::string& library, Api& api, std::string& problem);

}  // namespace lockstep::tracer::cupti
