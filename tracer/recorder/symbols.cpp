#include "tracer/recorder/symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "base/numbers.h"

namespace lockstep::tracer::record {

namespace {

// Larger tables are left out: a stack without their names comes sooner.
constexpr std::uint64_t kLargestTable = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMaxHeaders = 1U << 16U;

bool read_at(std::ifstream& file, std::uint64_t offset, void* out, std::uint64_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(static_cast<char*>(out), static_cast<std::streamsize>(bytes)));
}

template <class T>
std::vector<T> read_array(std::ifstream& file, std::uint64_t offset, std::uint64_t count) {
  if (count > kLargestTable / sizeof(T)) return {};
  std::vector<T> values(count);
  if (count == 0 || !read_at(file, offset, values.data(), count * sizeof(T))) values.clear();
  return values;
}

constexpr std::size_t kLongestName = 160;

}  // namespace

std::string readable_name(const std::string& name) {
  int status = -1;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  std::string readable = status == 0 && text != nullptr ? text.get() : name;
  // Of templates that name templates the beginning says enough.
  if (readable.size() > kLongestName) readable = readable.substr(0, kLongestName) + "…";
  return readable;
}

Symbols::Symbols(pid_t process) : process_(process) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::string line;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, path;
    words >> range >> rights >> offset >> device >> inode;
    std::getline(words >> std::ws, path);
    if (rights.size() < 3 || rights[2] != 'x') continue;
    Mapping mapping;
    std::string_view addresses = range, in_file = offset;  // "7f01a000-7f02b000", hexadecimal as the offset
    mapping.begin = take_number<std::uint64_t>(addresses, 16).value_or(0);
    if (!addresses.empty()) addresses.remove_prefix(1);
    mapping.end = take_number<std::uint64_t>(addresses, 16).value_or(mapping.begin);
    mapping.offset = take_number<std::uint64_t>(in_file, 16).value_or(0);
    mapping.path = path;
    mappings_.push_back(std::move(mapping));
  }
}

const Symbols::Mapping* Symbols::find(std::uint64_t address) const {
  auto next = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                               [](std::uint64_t at, const Mapping& mapping) { return at < mapping.begin; });
  if (next == mappings_.begin()) return nullptr;
  --next;
  return address < next->end ? &*next : nullptr;
}

bool Symbols::is_code(std::uint64_t address) const {
  return find(address) != nullptr;
}

Symbols::File Symbols::read(const std::string& path) {
  File result;
  // A device may be mapped as well, and a named pipe may have taken a file's place: opening one waits.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return result;
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shnum > kMaxHeaders)
    return result;
  for (const Elf64_Phdr& segment : read_array<Elf64_Phdr>(file, header.e_phoff, header.e_phnum)) {
    if (segment.p_type == PT_LOAD)
      result.segments.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz});
  }
  const std::vector<Elf64_Shdr> sections = read_array<Elf64_Shdr>(file, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size() || section.sh_size > kLargestTable) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    std::vector<char> names = read_array<char>(file, strings.sh_offset, strings.sh_size);
    if (names.empty()) continue;
    names.push_back('\0');
    for (const Elf64_Sym& symbol :
         read_array<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
      if (symbol.st_name >= names.size()) continue;
      result.functions.push_back({symbol.st_value, symbol.st_size, names.data() + symbol.st_name});
    }
  }
  std::sort(result.functions.begin(), result.functions.end(),
            [](const Function& a, const Function& b) { return a.address < b.address; });
  return result;
}

const Symbols::File& Symbols::file(const std::string& path) {
  const auto [where, fresh] = files_.try_emplace(path);
  // As the process sees it: it may live in a container.
  if (fresh) where->second = read(fmt::format("/proc/{}/root{}", process_, path));
  return where->second;
}

std::string Symbols::describe(std::uint64_t address) {
  const Mapping* const mapping = find(address);
  if (mapping == nullptr || mapping->path.empty()) return fmt::format("{:#x}", address);
  const std::string name = mapping->path.substr(mapping->path.rfind('/') + 1);
  if (mapping->path.front() != '/') return fmt::format("{:#x} in {}", address, name);
  const File& contents = file(mapping->path);
  const std::uint64_t offset = address - mapping->begin + mapping->offset;
  for (const Segment& segment : contents.segments) {
    if (offset < segment.offset || offset >= segment.offset + segment.size) continue;
    const std::uint64_t at = offset - segment.offset + segment.address;
    auto next = std::upper_bound(contents.functions.begin(), contents.functions.end(), at,
                                 [](std::uint64_t value, const Function& f) { return value < f.address; });
    if (next == contents.functions.begin()) break;
    --next;
    if (next->size != 0 && at >= next->address + next->size) break;
    return fmt::format("{} in {}", readable_name(next->name), name);
  }
  return fmt::format("{:#x} in {}", address, name);
}

}  // namespace lockstep::tracer::record
