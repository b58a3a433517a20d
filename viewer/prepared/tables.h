// Arrays of plain structs in one file that is read by mapping it: a run of any size opens at once and costs
// the pages that are looked at.
//
// The layout is the machine's own. Such a file is a cache: made on this machine from a run, and made again
// when the run or the program has changed. Nobody sends it to anyone; what is in it was checked when it was
// made.
//
//   header     magic, version, layout of the structs, fingerprint of the input, where the contents stand
//   arrays     each aligned to 64 bytes
//   contents   what is small, serialized (serialize.h); says where the arrays are
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "viewer/prepared/mapping_guard.h"

namespace lockstep::viewer {

// Where an array stands.
template <class T>
struct Extent {
  std::uint64_t offset = 0;  // bytes, from the file's begin
  std::uint64_t count = 0;
};

// What a prepared file has to be made of and for to be of use.
struct TablesKey {
  std::uint64_t layout = 0;       // of the structs in it
  std::uint64_t fingerprint = 0;  // of the input
};

// A mapped file. Immutable; spans are good for as long as it lives.
class Tables {
 public:
  // Errors: no such file, not one of ours, of another key, cut or damaged.
  static Result<std::shared_ptr<const Tables>> open(const std::filesystem::path& path, const TablesKey& key);
  ~Tables();
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  std::string_view contents() const { return contents_; }
  std::size_t size_in_bytes() const { return bytes_.size(); }
  // Somebody cut the file while it was mapped: what was behind the cut reads as zeros. Our own writers never
  // do, they replace files by renaming.
  bool was_cut() const { return guard_ && guard_->was_cut(); }
  template <class T>
  bool holds(const Extent<T>& extent) const {
    return extent.offset % alignof(T) == 0 && extent.offset <= bytes_.size() &&
           extent.count <= (bytes_.size() - extent.offset) / sizeof(T);
  }
  // Empty where the file does not hold it.
  template <class T>
  std::span<const T> array(const Extent<T>& extent) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (extent.count == 0 || !holds(extent)) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + extent.offset),
            static_cast<std::size_t>(extent.count)};
  }

 private:
  friend class TablesWriter;
  static Result<std::shared_ptr<const Tables>> map(int descriptor, const TablesKey& key,
                                                   const std::string& name);
  Tables() = default;

  std::span<const std::byte> bytes_;
  std::string_view contents_;
  std::unique_ptr<MappingGuard> guard_;
};

// Writes such a file front to back. Errors (a full disk) are kept and returned by finish().
class TablesWriter {
 public:
  // Without a name until it is finished, or under one of its own where the file system has no nameless files:
  // nobody ever sees half a file, and one that is not finished is gone with the process, however that ends.
  static Result<TablesWriter> create(const std::filesystem::path& path);
  // In memory that the kernel keeps like a file.
  static Result<TablesWriter> in_memory();
  ~TablesWriter();
  TablesWriter(TablesWriter&& other) noexcept;
  TablesWriter& operator=(TablesWriter&&) = delete;

  template <class T>
  Extent<T> add(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (values.empty()) return {};
    return {add_bytes(std::as_bytes(values)), values.size()};
  }
  template <class T>
  Extent<T> add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }
  // Ends the file and maps it.
  Result<std::shared_ptr<const Tables>> finish(std::string_view contents, const TablesKey& key);

 private:
  TablesWriter(int descriptor, std::filesystem::path path, std::filesystem::path temporary);
  std::uint64_t add_bytes(std::span<const std::byte> bytes);
  void write(std::span<const std::byte> bytes);
  void flush();
  void write_out(std::span<const std::byte> bytes);
  // Puts the finished file in its place. 0 or errno.
  int move_into_place();

  int descriptor_ = -1;
  std::filesystem::path path_;       // empty: in memory
  std::filesystem::path temporary_;  // what it is called while it is written; empty: it has no name
  std::uint64_t size_ = 0;           // with what is buffered
  std::vector<std::byte> buffer_;
  std::string error_;
};

}  // namespace lockstep::viewer
