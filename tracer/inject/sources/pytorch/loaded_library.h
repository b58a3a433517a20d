// A shared library that the process has loaded, seen through its dynamic section: its symbols, and the places
// through which it calls functions of its own (the slots of its procedure linkage table, and the tables of
// virtual functions).
//
// Redirecting a call by writing such a slot is what the dynamic linker does itself: one aligned pointer,
// taken up by each thread at its next call. Nothing is changed in the code, no other library's calls are
// touched, and a slot that does not hold what is expected is left alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace lockstep::tracer::pytorch {

class LoadedLibrary {
 public:
  // The library whose file name begins with `name` ("libtorch_cpu.so"); nothing if none is loaded. Never
  // loads one.
  static std::optional<LoadedLibrary> find(std::string_view name);

  // Address of an exported symbol; nullptr if the library doesn't define it.
  void* symbol(const char* name) const;
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

  // Makes the library's own calls to the function `name` go to `replacement`. Returns what they went to: the
  // function itself. nullptr if the library doesn't call it by a slot, or it can't be written.
  void* redirect(const char* name, void* replacement) const;

 private:
  LoadedLibrary() = default;
  void* handle_ = nullptr;  // never closed: what is redirected must stay
  std::size_t base_ = 0;
  const void* dynamic_ = nullptr;
};

// Replaces the entry that holds `function` in a table of virtual functions of at most `most` entries. False
// if there is none, or it can't be written. `table` is what an object of the class points to.
bool replace_virtual(void** table, std::size_t most, void* function, void* replacement);

// Writes one pointer, also where the linker has made the page read-only since (it is read-only again after).
bool write_pointer(void** where, void* value);

}  // namespace lockstep::tracer::pytorch
