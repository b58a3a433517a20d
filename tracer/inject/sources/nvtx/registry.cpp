#include "tracer/inject/sources/nvtx/registry.h"

#include <new>

#include "tracer/inject/ring/ring.h"
#include "tracer/inject/sources/nvtx/instrumentation.h"

namespace lockstep::tracer::nvtx {

namespace {

constexpr std::size_t kMaxNames = 65536;  // of categories, and of threads

class Lock {
 public:
  explicit Lock(Registry& registry) : registry_(registry) { registry_.lock(); }
  ~Lock() { registry_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Registry& registry_;
};

// Runs what may run out of memory. An NVTX call must not throw into a program that expects a C function.
template <class Result, class Action>
Result or_else(Result fallback, Action&& action) noexcept {
  try {
    return action();
  } catch (...) {
    return fallback;
  }
}

}  // namespace

Registry& Registry::instance() {
  static Registry& registry = *new Registry;
  return registry;
}

Registry::Registry() {
  domains_.emplace_back();
  domain_index_.emplace(domains_.back(), kDefaultDomain);
}

std::uint16_t Registry::domain(std::string_view name) noexcept {
  return or_else(kNoDomain, [&] {
    const Lock lock(*this);
    const auto found = domain_index_.find(name);
    // A domain may be called "" too; it is not the default domain, but nobody could tell the two apart.
    if (found != domain_index_.end()) return found->second;
    if (domains_.size() >= Ring::kMaxDomains) return kNoDomain;
    domains_.emplace_back(name);
    const auto index = static_cast<std::uint16_t>(domains_.size() - 1);
    domain_index_.emplace(domains_.back(), index);
    return index;
  });
}

std::uint64_t Registry::string(std::string_view text) noexcept {
  return or_else(std::uint64_t{0}, [&]() -> std::uint64_t {
    const Lock lock(*this);
    const auto found = string_index_.find(text);
    if (found != string_index_.end()) return found->second;
    constexpr std::size_t kOverhead = 128;
    if (string_bytes_ + text.size() + kOverhead > kMaxStringBytes) return 0;
    strings_.emplace_back(text);
    string_bytes_ += text.size() + kOverhead;
    string_index_.emplace(strings_.back(), strings_.size());
    return strings_.size();
  });
}

void Registry::name_category(std::uint16_t domain, std::uint32_t category, std::string_view name) noexcept {
  or_else(false, [&] {
    const Lock lock(*this);
    if (categories_.size() >= kMaxNames) return false;
    categories_[{domain, category}] = name;
    category_names_version_.fetch_add(1, std::memory_order_release);
    return true;
  });
}

void Registry::name_thread(std::uint32_t thread, std::string_view name) noexcept {
  or_else(false, [&] {
    const Lock lock(*this);
    if (threads_.size() >= kMaxNames) threads_.clear();
    threads_[thread] = name;
    thread_names_version_.fetch_add(1, std::memory_order_release);
    return true;
  });
}

std::uint64_t Registry::register_schema(std::uint16_t domain,
                                        const nvtxPayloadSchemaAttr_v1* attributes) noexcept {
  if (attributes == nullptr) return 0;
  return or_else(std::uint64_t{0}, [&] {
    const Lock lock(*this);
    const bool is_instrumentation = domain < domains_.size() && domains_[domain] == kInstrumentationDomain;
    return schemas_.register_schema(domain, *attributes, is_instrumentation);
  });
}

std::uint64_t Registry::register_enum(std::uint16_t domain,
                                      const nvtxPayloadEnumAttr_v1* attributes) noexcept {
  if (attributes == nullptr) return 0;
  return or_else(std::uint64_t{0}, [&] {
    const Lock lock(*this);
    return schemas_.register_enum(domain, *attributes);
  });
}

std::string Registry::domain_name(std::uint16_t domain) {
  const Lock lock(*this);
  return domain < domains_.size() ? domains_[domain] : std::string();
}

bool Registry::string_text(std::uint64_t handle, std::string& text) {
  const Lock lock(*this);
  if (handle == 0 || handle > strings_.size()) return false;
  text = strings_[handle - 1];
  return true;
}

bool Registry::category_name(std::uint16_t domain, std::uint32_t category, std::string& name) {
  const Lock lock(*this);
  const auto found = categories_.find({domain, category});
  if (found == categories_.end()) return false;
  name = found->second;
  return true;
}

std::uint64_t Registry::thread_names_version() const noexcept {
  return thread_names_version_.load(std::memory_order_acquire);
}

std::uint64_t Registry::category_names_version() const noexcept {
  return category_names_version_.load(std::memory_order_acquire);
}

bool Registry::thread_name(std::uint32_t thread, std::string& name) {
  const Lock lock(*this);
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return false;
  name = found->second;
  return true;
}

void Registry::reset_lock_in_child() noexcept {
  // The parent's prepare handler took the lock: nobody was in the middle of a change. A mutex that another
  // process' thread id holds can't be unlocked here, only made anew.
  new (&mutex_) pthread_mutex_t PTHREAD_MUTEX_INITIALIZER;
}

}  // namespace lockstep::tracer::nvtx
