#include "tracer/inject/sources/host/proc_text.h"

#include <algorithm>

#include "base/numbers.h"

namespace lockstep::tracer::host {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

// The next word of `text`, which is taken away from it; empty at the end of the line.
std::string_view next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.size(), text.find_first_not_of(' '));
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.size(), text.find_first_of(" \n"));
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace

Amount parse_number(std::string_view text) {
  return lockstep::parse_number<std::uint64_t>(trimmed(text));
}

std::optional<ScheduleTimes> parse_schedstat(std::string_view text) {
  const Amount running = parse_number(next_word(text));
  const Amount waiting = parse_number(next_word(text));
  if (!running.has_value() || !waiting.has_value()) return std::nullopt;
  return ScheduleTimes{*running, *waiting};
}

Amount parse_processor(std::string_view stat) {
  // Behind the last ")": names may hold brackets and blanks. State is field 3, processor 39.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 1);
  constexpr int kFirstField = 3;
  constexpr int kProcessor = 39;
  for (int field = kFirstField; field < kProcessor; ++field) {
    if (next_word(stat).empty()) return std::nullopt;
  }
  return parse_number(next_word(stat));
}

Amount parse_resident_pages(std::string_view statm) {
  next_word(statm);
  return parse_number(next_word(statm));
}

Amount parse_migrations(std::string_view sched) {
  constexpr std::string_view kName = "nr_migrations";
  for (std::size_t at = sched.find(kName); at != std::string_view::npos; at = sched.find(kName, at + 1)) {
    std::string_view rest = sched.substr(at + kName.size());
    if (next_word(rest) == ":") return parse_number(next_word(rest));
  }
  return std::nullopt;
}

Amount parse_pressure(std::string_view text) {
  if (!text.starts_with("some ")) return std::nullopt;
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kTotal = " total=";
  const std::size_t at = text.find(kTotal);
  return at == std::string_view::npos ? std::nullopt : parse_number(text.substr(at + kTotal.size()));
}

}  // namespace lockstep::tracer::host
