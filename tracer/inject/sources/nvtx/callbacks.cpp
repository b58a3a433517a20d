#include "tracer/inject/sources/nvtx/callbacks.h"

#include <cstring>
#include <cwchar>
#include <new>
#include <string>
#include <string_view>

#include "tracer/inject/sources/nvtx/emit.h"
#include "tracer/inject/sources/nvtx/registry.h"
#include "tracer/inject/sources/nvtx/text.h"

namespace lockstep::tracer::nvtx {

namespace {

nvtxDomainHandle_t domain_handle(std::uint64_t number) {
  return reinterpret_cast<nvtxDomainHandle_t>(number);  // NOLINT(performance-no-int-to-ptr)
}

std::uint16_t domain_or_none(nvtxDomainHandle_t handle) {
  const std::uint64_t number = domain_number(handle);
  return number < Ring::kMaxDomains ? static_cast<std::uint16_t>(number) : Registry::kNoDomain;
}

// Calls `action` with the text as UTF-8, unless the call comes from a signal handler that interrupted the
// tracer: the registry's lock may be held by the very thread.
template <class Result, class Action>
Result with_text(const char* text, Result fallback, Action&& action) noexcept {
  const Section section;
  if (!section.entered()) return fallback;
  return action(text == nullptr ? std::string_view() : std::string_view(text));
}

template <class Result, class Action>
Result with_text(const wchar_t* text, Result fallback, Action&& action) noexcept {
  const Section section;
  if (!section.entered()) return fallback;
  try {
    std::string converted;
    if (text != nullptr) {
      append_utf8_from_wide(reinterpret_cast<const std::byte*>(text), std::wcslen(text) * sizeof(wchar_t),
                            converted);
    }
    return action(std::string_view(converted));
  } catch (const std::bad_alloc&) {
    return fallback;
  }
}

// --- events of the default domain ---

void mark_attributes(const nvtxEventAttributes_t* attributes) {
  Event event;
  describe(event, attributes);
  mark(event);
}
template <class Character>
void mark_message(const Character* message) {
  Event event;
  describe(event, message);
  mark(event);
}
nvtxRangeId_t start_attributes(const nvtxEventAttributes_t* attributes) {
  Event event;
  describe(event, attributes);
  return start(event);
}
template <class Character>
nvtxRangeId_t start_message(const Character* message) {
  Event event;
  describe(event, message);
  return start(event);
}
void range_end(nvtxRangeId_t id) {
  end(id, Registry::kDefaultDomain, nullptr, 0);
}
int push_attributes(const nvtxEventAttributes_t* attributes) {
  Event event;
  describe(event, attributes);
  return push(event);
}
int push_wide(const wchar_t* message) {
  Event event;
  describe(event, message);
  return push(event);
}
int range_pop() {
  return pop(Registry::kDefaultDomain, nullptr, 0);
}

// --- events of other domains ---

bool set_domain(Event& event, nvtxDomainHandle_t domain) {
  // An index that no ring has: the event is then refused and counted.
  event.domain = domain_or_none(domain);
  return true;
}
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Event event;
  set_domain(event, domain);
  describe(event, attributes);
  mark(event);
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Event event;
  set_domain(event, domain);
  describe(event, attributes);
  return start(event);
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  end(id, domain_number(domain), nullptr, 0);
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Event event;
  set_domain(event, domain);
  describe(event, attributes);
  return push(event);
}
int domain_pop(nvtxDomainHandle_t domain) {
  return pop(domain_number(domain), nullptr, 0);
}

// --- names and registrations ---

template <class Character>
nvtxDomainHandle_t domain_create(const Character* name) {
  return domain_handle(with_text(name, std::uint64_t{Registry::kNoDomain}, [](std::string_view text) {
    return std::uint64_t{Registry::instance().domain(text)};
  }));
}
template <class Character>
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const Character* string) {
  const std::uint64_t handle = with_text(
      string, std::uint64_t{0}, [](std::string_view text) { return Registry::instance().string(text); });
  return reinterpret_cast<nvtxStringHandle_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}
template <class Character>
void name_domain_category(nvtxDomainHandle_t domain, std::uint32_t category, const Character* name) {
  with_text(name, 0, [&](std::string_view text) {
    Registry::instance().name_category(domain_or_none(domain), category, text);
    return 0;
  });
}
template <class Character>
void name_category(std::uint32_t category, const Character* name) {
  name_domain_category(nullptr, category, name);
}
template <class Character>
void name_thread(std::uint32_t thread, const Character* name) {
  with_text(name, 0, [&](std::string_view text) {
    Registry::instance().name_thread(thread, text);
    return 0;
  });
}

// --- typed payloads ---

std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  const Section section;
  if (!section.entered()) return 0;
  return Registry::instance().register_schema(domain_or_none(domain), attributes);
}
std::uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  const Section section;
  if (!section.entered()) return 0;
  return Registry::instance().register_enum(domain_or_none(domain), attributes);
}
void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  Event event;
  set_domain(event, domain);
  describe(event, payloads, count);
  mark(event);
}
int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  Event event;
  set_domain(event, domain);
  describe(event, payloads, count);
  return push(event);
}
int pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  return pop(domain_number(domain), payloads, count);
}
nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  Event event;
  set_domain(event, domain);
  describe(event, payloads, count);
  return start(event);
}
void end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads,
                 size_t count) {
  end(id, domain_number(domain), payloads, count);
}
std::uint8_t domain_is_enabled(nvtxDomainHandle_t) {
  return 1;
}

// Enters functions into one module's table of pointers to function pointers, as far as this copy of NVTX has
// them.
class Table {
 public:
  Table(const NvtxExportTableCallbacks& exports, NvtxCallbackModule module) {
    if (exports.GetModuleFunctionTable(module, &table_, &size_) == 0) table_ = nullptr;
  }
  bool found() const { return table_ != nullptr; }
  template <class Function>
  void set(unsigned id, Function* function) {
    if (table_ == nullptr || id >= size_ || table_[id] == nullptr) return;
    *table_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

}  // namespace

bool install_core_callbacks(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (get_export_table == nullptr) return false;
  const auto* exports = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (exports == nullptr || exports->struct_size < sizeof(NvtxExportTableCallbacks)) return false;

  Table core(*exports, NVTX_CB_MODULE_CORE);
  core.set(NVTX_CBID_CORE_MarkEx, mark_attributes);
  core.set(NVTX_CBID_CORE_MarkA, mark_message<char>);
  core.set(NVTX_CBID_CORE_MarkW, mark_message<wchar_t>);
  core.set(NVTX_CBID_CORE_RangeStartEx, start_attributes);
  core.set(NVTX_CBID_CORE_RangeStartA, start_message<char>);
  core.set(NVTX_CBID_CORE_RangeStartW, start_message<wchar_t>);
  core.set(NVTX_CBID_CORE_RangeEnd, range_end);
  core.set(NVTX_CBID_CORE_RangePushEx, push_attributes);
  core.set(NVTX_CBID_CORE_RangePushA, push_text);
  core.set(NVTX_CBID_CORE_RangePushW, push_wide);
  core.set(NVTX_CBID_CORE_RangePop, range_pop);
  core.set(NVTX_CBID_CORE_NameCategoryA, name_category<char>);
  core.set(NVTX_CBID_CORE_NameCategoryW, name_category<wchar_t>);
  core.set(NVTX_CBID_CORE_NameOsThreadA, name_thread<char>);
  core.set(NVTX_CBID_CORE_NameOsThreadW, name_thread<wchar_t>);

  Table domains(*exports, NVTX_CB_MODULE_CORE2);
  domains.set(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  domains.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  domains.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  domains.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  domains.set(NVTX_CBID_CORE2_DomainNameCategoryA, name_domain_category<char>);
  domains.set(NVTX_CBID_CORE2_DomainNameCategoryW, name_domain_category<wchar_t>);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>);
  domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>);
  domains.set(NVTX_CBID_CORE2_DomainCreateA, domain_create<char>);
  domains.set(NVTX_CBID_CORE2_DomainCreateW, domain_create<wchar_t>);
  // What is not set becomes a no-op: DomainDestroy (everything of a domain is kept, events in flight may
  // refer to it), resources, CUDA and OpenCL names, synchronisation objects.
  return core.found() || domains.found();
}

bool install_extension_callbacks(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->structSize < sizeof(nvtxExtModuleInfo_t)) return false;
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return true;
  nvtxExtModuleSegment_t& segment = module->segments[0];
  const auto set = [&segment](std::size_t id, auto* function) {
    if (id < segment.slotCount) segment.functionSlots[id] = reinterpret_cast<std::intptr_t>(function);
  };
  set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, register_schema);
  set(NVTX3EXT_CBID_nvtxPayloadEnumRegister, register_enum);
  set(NVTX3EXT_CBID_nvtxMarkPayload, mark_payload);
  set(NVTX3EXT_CBID_nvtxRangePushPayload, push_payload);
  set(NVTX3EXT_CBID_nvtxRangePopPayload, pop_payload);
  set(NVTX3EXT_CBID_nvtxRangeStartPayload, start_payload);
  set(NVTX3EXT_CBID_nvtxRangeEndPayload, end_payload);
  set(NVTX3EXT_CBID_nvtxDomainIsEnabled, domain_is_enabled);
  return true;
}

}  // namespace lockstep::tracer::nvtx
