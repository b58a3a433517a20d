#include "tracer/inject/sources/pytorch/loaded_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace lockstep::tracer::pytorch {

namespace {

struct Wanted {
  std::string_view name;
  std::string_view path;
  std::size_t base = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  Wanted& wanted = *static_cast<Wanted*>(data);
  const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  const std::size_t slash = path.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (!file.starts_with(wanted.name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    wanted.path = path;
    wanted.base = info->dlpi_addr;
    wanted.dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1;
  }
  return 0;
}

// How a page is protected now: the bits for mprotect. PROT_NONE if nothing is mapped there.
int protection_of(std::uintptr_t address) {
  struct Page {
    std::uintptr_t address;
    int protection;
  } page{address, PROT_NONE};
  // Of the loaded segments, and within them what the linker made read-only after relocation.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Page& wanted = *static_cast<Page*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (wanted.address < begin || wanted.address >= begin + header.p_memsz) continue;
          if (header.p_type == PT_LOAD) {
            wanted.protection = ((header.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                                ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                                ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
          }
        }
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_GNU_RELRO && wanted.address >= begin &&
              wanted.address < begin + header.p_memsz)
            wanted.protection = PROT_READ;
        }
        return 0;
      },
      &page);
  return page.protection;
}

template <typename Relocation>
constexpr std::size_t symbol_of(const Relocation& relocation) {
#if defined(__LP64__)
  return ELF64_R_SYM(relocation.r_info);
#else
  return ELF32_R_SYM(relocation.r_info);
#endif
}

}  // namespace

std::optional<LoadedLibrary> LoadedLibrary::find(std::string_view name) {
  Wanted wanted;
  wanted.name = name;
  dl_iterate_phdr(look_at, &wanted);
  if (wanted.dynamic == nullptr) return std::nullopt;
  LoadedLibrary library;
  library.handle_ = dlopen(wanted.path.data(), RTLD_LAZY | RTLD_NOLOAD);
  if (library.handle_ == nullptr) return std::nullopt;
  library.base_ = wanted.base;
  library.dynamic_ = wanted.dynamic;
  return library;
}

void* LoadedLibrary::symbol(const char* name) const {
  return dlsym(handle_, name);
}

void* LoadedLibrary::redirect(const char* name, void* replacement) const {
  const char* strings = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  std::uintptr_t relocations = 0;
  std::size_t size = 0;
  ElfW(Sxword) kind = DT_RELA;
  // glibc has turned these into addresses.
  for (const auto* entry = static_cast<const ElfW(Dyn)*>(dynamic_); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) relocations = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) size = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTREL) kind = static_cast<ElfW(Sxword)>(entry->d_un.d_val);
  }
  if (strings == nullptr || symbols == nullptr || relocations < base_ || kind != DT_RELA) return nullptr;
  void* const original = symbol(name);
  if (original == nullptr) return nullptr;
  const auto* begin = reinterpret_cast<const ElfW(Rela)*>(relocations);
  const std::size_t count = size / sizeof(ElfW(Rela));
  for (std::size_t i = 0; i < count; ++i) {
    if (std::strcmp(strings + symbols[symbol_of(begin[i])].st_name, name) != 0) continue;
    // Whether it was bound already or still points to the linker's resolver: calls end in `original`.
    return write_pointer(reinterpret_cast<void**>(base_ + begin[i].r_offset), replacement) ? original
                                                                                           : nullptr;
  }
  return nullptr;
}

bool replace_virtual(void** table, std::size_t most, void* function, void* replacement) {
  if (table == nullptr || function == nullptr) return false;
  for (std::size_t i = 0; i < most; ++i) {
    if (table[i] == replacement) return true;
    if (table[i] == function) return write_pointer(&table[i], replacement);
    if (table[i] == nullptr) return false;  // the table has ended: the next one's offset to top
  }
  return false;
}

bool write_pointer(void** where, void* value) {
  const auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(where);
  const int protection = protection_of(address);
  if (protection == PROT_NONE) return false;
  auto* const page = reinterpret_cast<void*>(address & ~(page_size - 1));
  const bool writable = (protection & PROT_WRITE) != 0;
  if (!writable && mprotect(page, page_size, protection | PROT_WRITE) != 0) return false;
  __atomic_store_n(where, value, __ATOMIC_RELEASE);
  if (!writable) mprotect(page, page_size, protection);
  return true;
}

}  // namespace lockstep::tracer::pytorch
