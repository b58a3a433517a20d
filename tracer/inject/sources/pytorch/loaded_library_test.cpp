#include "tracer/inject/sources/pytorch/loaded_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace lockstep::tracer::pytorch {

// Known to other files too, as far as the compiler knows: it can't tell which function a call will reach.
struct Animal {
  virtual ~Animal() = default;
  virtual int legs() const { return 4; }
};

namespace {

int one() {
  return 1;
}
int two() {
  return 2;
}
int three() {
  return 3;
}

void* address(int (*function)()) {
  return reinterpret_cast<void*>(function);
}

TEST(LoadedLibrary, IsFoundByItsFileNameAndNeverLoaded) {
  EXPECT_TRUE(LoadedLibrary::find("libc.so").has_value());
  EXPECT_FALSE(LoadedLibrary::find("libtorch_cpu.so").has_value());
  EXPECT_FALSE(LoadedLibrary::find("c.so.6").has_value()) << "the name is where the file's name begins";
}

TEST(LoadedLibrary, SymbolsAreThoseItDefines) {
  const auto library = LoadedLibrary::find("libc.so");
  ASSERT_TRUE(library.has_value());
  EXPECT_NE(library->symbol("getpid"), nullptr);
  EXPECT_EQ(library->symbol("no_such_symbol"), nullptr);
  EXPECT_EQ(library->function<pid_t (*)()>("getpid")(), getpid());
}

TEST(LoadedLibrary, WhatItDoesNotCallCannotBeRedirected) {
  const auto library = LoadedLibrary::find("libc.so");
  ASSERT_TRUE(library.has_value());
  EXPECT_EQ(library->redirect("no_such_symbol", address(one)), nullptr);
  EXPECT_EQ(library->redirect("getpid", address(one)), nullptr);
}

// A library whose one function calls another of its own, as libtorch's do.
TEST(LoadedLibrary, ItsOwnCallsAreRedirectedAndOnlyThose) {
  void* const handle = dlopen(LOCKSTEP_CALLER_LIBRARY, RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto library = LoadedLibrary::find("libcaller_for_test.so");
  ASSERT_TRUE(library.has_value());
  const auto outer = library->function<int (*)()>("caller_outer");
  const auto inner = library->function<int (*)()>("caller_inner");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer(), 42);
  EXPECT_EQ(library->redirect("caller_inner", address(three)), reinterpret_cast<void*>(inner));
  EXPECT_EQ(outer(), 3);
  EXPECT_EQ(inner(), 42) << "the function itself is as it was";
  EXPECT_EQ(library->redirect("caller_inner", reinterpret_cast<void*>(inner)),
            reinterpret_cast<void*>(inner));
  EXPECT_EQ(outer(), 42);
}

TEST(ReplaceVirtual, TheEntryAndNoOther) {
  static void* table[] = {address(one), address(two), address(one), nullptr, address(three)};
  EXPECT_TRUE(replace_virtual(table, 5, address(two), address(three)));
  EXPECT_EQ(table[0], address(one));
  EXPECT_EQ(table[1], address(three));
  EXPECT_TRUE(replace_virtual(table, 5, address(two), address(three))) << "it is replaced already";
  EXPECT_FALSE(replace_virtual(table, 1, address(two), address(three)));
  EXPECT_FALSE(replace_virtual(table, 5, nullptr, address(one)));
  EXPECT_FALSE(replace_virtual(nullptr, 5, address(one), address(two)));
}

// Polymorphic objects' tables lie where the linker made pages read-only.
int (*legs_before)(const Animal*) = nullptr;
int more_legs(const Animal* animal) {
  return legs_before(animal) + 2;
}

TEST(ReplaceVirtual, InATableThatIsReadOnly) {
  const Animal animal;
  void** const table = *reinterpret_cast<void** const*>(&animal);
  // Both destructors come first.
  void* const legs = table[2];
  legs_before = reinterpret_cast<int (*)(const Animal*)>(legs);
  ASSERT_TRUE(replace_virtual(table, 3, legs, reinterpret_cast<void*>(more_legs)));
  const Animal* volatile hidden = &animal;
  EXPECT_EQ(hidden->legs(), 6);
  ASSERT_TRUE(replace_virtual(table, 3, reinterpret_cast<void*>(more_legs), legs));
  EXPECT_EQ(hidden->legs(), 4);
}

TEST(WritePointer, WhereNothingIsMappedFails) {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_FALSE(write_pointer(static_cast<void**>(page), nullptr)) << "it is no library's";
  munmap(page, size);
}

}  // namespace
}  // namespace lockstep::tracer::pytorch
