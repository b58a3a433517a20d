// What a process registered with NVTX: domains, strings, names of categories and threads, payload schemas.
//
// Registering is rare and takes a lock; the hot path reads nothing but schemas, without one. Handles that
// programs hold are small numbers in the guise of pointers: a handle from nowhere can't crash us. Everything
// is kept until the process ends, since events in flight may still refer to it; a domain or string registered
// twice gets the same handle.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracer/inject/sources/nvtx/payload_schema.h"

namespace lockstep::tracer::nvtx {

class Registry {
 public:
  static constexpr std::uint16_t kDefaultDomain = 0;  // handle nullptr
  static constexpr std::uint16_t kNoDomain = 0xFFFF;
  static constexpr std::size_t kMaxStringBytes = std::size_t{64} << 20U;

  // The registry of this process; never destroyed.
  static Registry& instance();

  Registry();

  // --- application threads; none of these throws ---
  std::uint16_t domain(std::string_view name) noexcept;  // kNoDomain if there are too many
  std::uint64_t string(std::string_view text) noexcept;  // 0 if there is no room
  void name_category(std::uint16_t domain, std::uint32_t category, std::string_view name) noexcept;
  void name_thread(std::uint32_t thread, std::string_view name) noexcept;
  std::uint64_t register_schema(std::uint16_t domain, const nvtxPayloadSchemaAttr_v1* attributes) noexcept;
  std::uint64_t register_enum(std::uint16_t domain, const nvtxPayloadEnumAttr_v1* attributes) noexcept;
  const SchemaTable& schemas() const noexcept { return schemas_; }

  // --- the writer thread ---
  // Copies; empty where there is nothing of that number.
  std::string domain_name(std::uint16_t domain);
  bool string_text(std::uint64_t handle, std::string& text);
  bool category_name(std::uint16_t domain, std::uint32_t category, std::string& name);
  // Grows with every name_thread() and name_category().
  std::uint64_t thread_names_version() const noexcept;
  std::uint64_t category_names_version() const noexcept;
  bool thread_name(std::uint32_t thread, std::string& name);

  // --- around fork ---
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
  void reset_lock_in_child() noexcept;

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::deque<std::string> domains_;
  std::unordered_map<std::string_view, std::uint16_t> domain_index_;  // views of domains_
  std::deque<std::string> strings_;                                   // handle n is strings_[n - 1]
  std::unordered_map<std::string_view, std::uint64_t> string_index_;  // views of strings_
  std::size_t string_bytes_ = 0;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::string> categories_;
  std::map<std::uint32_t, std::string> threads_;
  std::atomic<std::uint64_t> thread_names_version_{0};
  std::atomic<std::uint64_t> category_names_version_{0};
  SchemaTable schemas_;
};

}  // namespace lockstep::tracer::nvtx
