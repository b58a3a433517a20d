#include "analyzer/import/flight_recorder/outermost_keys.h"

#include <algorithm>
#include <array>

namespace lockstep::analyzer::flight_recorder {
namespace {

// Longer than any key that tells anything.
constexpr std::size_t kLongestKey = 32;

constexpr auto kOfKineto =
    std::to_array<std::string_view>({"traceEvents", "schemaVersion", "deviceProperties", "distributedInfo"});
constexpr std::string_view kOfDumps = "entries";
// Metadata of others may have these too: what comes behind them counts.
constexpr auto kLikelyOfDumps =
    std::to_array<std::string_view>({"pg_config", "pg_status", "comm_lib_version", "nccl_version"});

template <class Keys>
bool holds(const Keys& keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

bool OutermostKeys::read(std::string_view piece) {
  for (std::size_t at = 0; at < piece.size() && verdict_ == Verdict::open && !ended_; ++at) {
    if (in_string_)
      read_string(piece, at);
    else if (depth_ == 0)
      begin(piece[at]);
    else
      read_structure(piece[at]);
  }
  return verdict_ == Verdict::open && !ended_;
}

// A byte order mark may come before.
void OutermostKeys::begin(char c) {
  constexpr std::string_view kMayComeBefore = " \t\r\n\xEF\xBB\xBF";
  if (c == '{')
    depth_ = 1;
  else if (kMayComeBefore.find(c) == std::string_view::npos)
    settle(Verdict::other);
}

// To the string's end or the piece's: `at` is its last byte then.
void OutermostKeys::read_string(std::string_view piece, std::size_t& at) {
  for (; at < piece.size(); ++at) {
    const char c = piece[at];
    if (!escaped_ && c == '"') {
      in_string_ = false;
      return;
    }
    escaped_ = !escaped_ && c == '\\';
    if (depth_ == 1 && last_.size() <= kLongestKey) last_ += c;
  }
}

void OutermostKeys::read_structure(char c) {
  switch (c) {
    case '"':
      in_string_ = true;
      if (depth_ != 1) break;
      has_last_ = true;
      last_.clear();
      break;
    case '{':
    case '[':
      ++depth_;
      break;
    case '}':
    case ']':
      ended_ = --depth_ == 0;
      break;
    case ',':
      if (depth_ == 1) has_last_ = false;
      break;
    case ':':
      if (depth_ == 1 && has_last_) take_key();
      break;
    default:
      break;
  }
}

void OutermostKeys::take_key() {
  has_last_ = false;
  if (holds(kOfKineto, last_))
    settle(Verdict::other);
  else if (last_ == kOfDumps)
    settle(Verdict::dump);
  else
    likely_ = likely_ || holds(kLikelyOfDumps, last_);
}

}  // namespace lockstep::analyzer::flight_recorder
