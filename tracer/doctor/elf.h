// The little that the doctor wants to know of an executable or shared library, read from its headers: nothing
// is loaded or run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::tracer::doctor {

struct ElfFacts {
  std::uint16_t architecture = 0;   // e_machine
  bool is_32_bit = false;           // then nothing else is known
  bool has_interpreter = false;     // an executable without one is statically linked
  bool is_executable = false;       // ET_EXEC, or ET_DYN with an interpreter or DF_1_PIE
  std::vector<std::string> needed;  // libraries that the loader brings along
  std::string interpreter = {};     // path of the loader; empty where there is none
};

// Fills `out` with up to `size` bytes from `offset`; returns how many there were.
using ReadAt = std::function<std::size_t(std::uint64_t offset, char* out, std::size_t size)>;

// Nothing if it is no little-endian ELF file, or damaged.
std::optional<ElfFacts> inspect_elf(const ReadAt& read);

// The processor that this program is built for, as ElfFacts::architecture says it.
bool is_of_this_processor(const ElfFacts& program);
// "musl" and the like, by the loader; empty of glibc, and where it can't be told.
std::string other_libc(const ElfFacts& program);
// Why our library can't be loaded into a program, in words: "its libc is musl, …". Empty where nothing of
// this shows a reason.
std::string why_not_entered(const ElfFacts& program);

}  // namespace lockstep::tracer::doctor
