// Tells a flight recorder's dump in JSON from other JSON by the keys of its outermost object, wherever they
// stand: what comes before them may be longer than anybody wants to keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::analyzer::flight_recorder {

// Takes the text in pieces of any length, and keeps no more of it than the beginning of one key. Values are
// skipped, each byte is looked at once, and no text is too deep or too broken.
class OutermostKeys {
 public:
  // False once nothing that may follow changes the answer: a key was read that only one kind has, the object
  // has ended, or the text is none.
  bool read(std::string_view piece);
  // By what was read so far. A dump that has no entries, or is cut before them, is told by its other keys,
  // which count only where none of Kineto's follows.
  bool are_of_a_dump() const { return verdict_ == Verdict::dump || (verdict_ == Verdict::open && likely_); }

 private:
  enum class Verdict : std::uint8_t { open, dump, other };
  void begin(char c);
  void read_string(std::string_view piece, std::size_t& at);
  void read_structure(char c);
  void take_key();
  void settle(Verdict verdict) { verdict_ = verdict; }

  Verdict verdict_ = Verdict::open;
  bool likely_ = false;
  bool ended_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool has_last_ = false;    // `last_` may be a key: a string that nothing but white space follows
  std::uint64_t depth_ = 0;  // of open objects and lists
  std::string last_;         // the last string of the outermost object, or its beginning
};

}  // namespace lockstep::analyzer::flight_recorder
