#include "tracer/doctor/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace lockstep::tracer::doctor {

namespace {

#if defined(__aarch64__)
constexpr std::uint16_t kArchitecture = EM_AARCH64;
#else
constexpr std::uint16_t kArchitecture = EM_X86_64;
#endif

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
    if (segment.p_type == PT_INTERP) {
      facts.has_interpreter = true;
      facts.interpreter = read_name(read, segment.p_offset);
    }
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

bool is_of_this_processor(const ElfFacts& program) {
  return program.architecture == 0 || program.architecture == kArchitecture;
}

std::string other_libc(const ElfFacts& program) {
  const std::string_view path = program.interpreter;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("ld-musl")) return "musl";
  if (name.starts_with("ld-uClibc") || name.starts_with("ld64-uClibc")) return "uClibc";
  if (name == "linker64" || name == "linker") return "Android's";
  return {};
}

std::string why_not_entered(const ElfFacts& program) {
  if (program.is_32_bit) return "it is a 32-bit program, and Lockstep's library is not";
  if (!is_of_this_processor(program)) return "it is built for another processor than Lockstep's library";
  if (const std::string libc = other_libc(program); !libc.empty())
    return "its libc is " + libc + ", and Lockstep's library needs glibc";
  return {};
}

}  // namespace lockstep::tracer::doctor
