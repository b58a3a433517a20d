#include "tracer/doctor/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace lockstep::tracer::doctor {

namespace {

constexpr std::size_t kMaxHeaders = 1024;
constexpr std::size_t kMaxDynamic = 65536;  // entries
constexpr std::size_t kMaxNeeded = 1024;
constexpr std::size_t kMaxName = 4096;

template <class T>
bool read_object(const ReadAt& read, std::uint64_t offset, T& object) {
  return read(offset, reinterpret_cast<char*>(&object), sizeof object) == sizeof object;
}

// Where in the file an address of the loaded image stands.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_LOAD || address < header.p_vaddr) continue;
    const std::uint64_t within = address - header.p_vaddr;
    if (within < header.p_filesz) return header.p_offset + within;
  }
  return std::nullopt;
}

std::string read_name(const ReadAt& read, std::uint64_t offset) {
  std::string name(kMaxName, '\0');
  name.resize(read(offset, name.data(), name.size()));
  name.resize(std::min(name.size(), name.find('\0')));
  return name;
}

}  // namespace

std::optional<ElfFacts> inspect_elf(const ReadAt& read) {
  Elf64_Ehdr header{};
  if (!read_object(read, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  ElfFacts facts;
  facts.architecture = header.e_machine;  // at the same place in both classes
  facts.is_32_bit = header.e_ident[EI_CLASS] == ELFCLASS32;
  if (facts.is_32_bit) return facts;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxHeaders) return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (!read_object(read, header.e_phoff + i * sizeof(Elf64_Phdr), headers[i])) return std::nullopt;
  }
  bool is_pie = false;  // a statically linked one may be told from a library by that alone
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> strings;
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type == PT_INTERP) facts.has_interpreter = true;
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::size_t count = std::min<std::uint64_t>(segment.p_filesz / sizeof(Elf64_Dyn), kMaxDynamic);
    for (std::size_t i = 0; i < count; ++i) {
      Elf64_Dyn entry{};
      if (!read_object(read, segment.p_offset + i * sizeof entry, entry)) return std::nullopt;
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED && names.size() < kMaxNeeded) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_FLAGS_1) is_pie = (entry.d_un.d_val & DF_1_PIE) != 0;
      if (entry.d_tag == DT_STRTAB) strings = file_offset(headers, entry.d_un.d_ptr);
    }
  }
  facts.is_executable =
      header.e_type == ET_EXEC || (header.e_type == ET_DYN && (facts.has_interpreter || is_pie));
  for (const std::uint64_t name : names) {
    if (strings.has_value()) facts.needed.push_back(read_name(read, *strings + name));
  }
  return facts;
}

}  // namespace lockstep::tracer::doctor
