#include "tracer/recorder/messages.h"

#include <fmt/format.h>

#include <atomic>
#include <string>

#include "base/standard_streams.h"
#include "tracer/recorder/summary.h"

namespace lockstep::tracer::record {
namespace {

constexpr std::string_view kPrefix = "lockstep record: ";

std::atomic<bool> quiet{false};

// Without memory, in pieces: another process's line may come between them.
void say_in_pieces(std::string_view message) noexcept {
  tell(kPrefix);
  tell(message);
  tell("\n");
}

}  // namespace

void be_quiet(bool wanted) noexcept {
  quiet = wanted;
}

bool is_quiet() noexcept {
  return quiet;
}

void say(std::string_view message) noexcept {
  if (!quiet) say_aloud(message);
}

void say_aloud(std::string_view message) noexcept {
  try {
    tell(fmt::format("{}{}\n", kPrefix, message));
  } catch (...) {
    say_in_pieces(message);
  }
}

void say_wrapped(std::string_view message) noexcept {
  constexpr std::size_t kColumns = 100;
  if (quiet) return;
  try {
    tell(wrapped(fmt::format("{}{}", kPrefix, message), kColumns) + "\n");
  } catch (...) {
    say_in_pieces(message);
  }
}

void say_failed(std::string_view what, const char* why) noexcept {
  if (quiet || what.empty()) return;
  try {
    say(fmt::format("{} failed: {}", what, why));
  } catch (...) {
    say_in_pieces(what);
  }
}

}  // namespace lockstep::tracer::record
