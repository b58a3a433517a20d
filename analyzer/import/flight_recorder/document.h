// What a flight recorder's dump holds, whichever way it was written down: numbers, texts, lists,
// dictionaries. Values are numbered; a value may be part of several others, so that a small file that names
// one list a thousand times stays small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::analyzer::flight_recorder {

// Hundreds of times what PyTorch keeps, at its largest settings: who reads a document stops here.
inline constexpr std::size_t kMaxValues = std::size_t{1} << 24U;

class Document {
 public:
  using Id = std::uint32_t;
  enum class Kind : std::uint8_t { none, boolean, integer, real, text, list, dictionary };

  Document() { (void)add_none(); }  // value 0, the root of a document that nothing was read into

  Id add_none() { return add(Kind::none); }
  Id add_boolean(bool value);
  Id add_integer(std::int64_t value);
  Id add_real(double value);
  Id add_text(std::string_view text);
  Id add_list();
  Id add_dictionary();
  // Nothing happens to a value of another kind. A later entry of the same key hides the earlier one.
  void append(Id list, Id value);
  void set(Id dictionary, Id key, Id value);
  void set_root(Id root) { root_ = root; }

  Id root() const { return root_; }
  Kind kind(Id value) const { return values_[value].kind; }
  // Nothing if the value is of another kind; a number that was written as the other kind of number counts.
  std::optional<std::int64_t> integer(Id value) const;
  std::optional<double> real(Id value) const;
  std::optional<bool> boolean(Id value) const;
  std::optional<std::string_view> text(Id value) const;
  // Empty if the value is no list.
  std::span<const Id> items(Id list) const;
  // Keys and values in turn, as they were written; empty if the value is no dictionary.
  std::span<const Id> entries(Id dictionary) const;
  // A field of a record: only the last 256 entries are looked at.
  std::optional<Id> find(Id dictionary, std::string_view key) const;

  std::size_t size() const { return values_.size(); }
  // What `find` and `items` have handed out so far, in values: a small file may name one list in a million
  // places.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  struct Value {
    Kind kind = Kind::none;
    std::int64_t number = 0;  // of a text or a container: which
    double real = 0;
  };
  Id add(Kind kind, std::int64_t number = 0, double real = 0);

  std::vector<Value> values_;
  std::deque<std::string> texts_;
  std::vector<std::vector<Id>> containers_;
  Id root_ = 0;
  mutable std::uint64_t looked_at_ = 0;
};

}  // namespace lockstep::analyzer::flight_recorder
