#include "trace/checked_json.h"

#include <cstdint>
#include <span>

#include "trace/format/checksum.h"

namespace lockstep::trace {
namespace {

constexpr std::string_view kBeforeChecksum = ",\n  \"checksum\": \"";
constexpr std::string_view kBehindChecksum = "\"\n}\n";
constexpr std::size_t kChecksumDigits = 16;
constexpr std::size_t kChecksumSize = kBeforeChecksum.size() + kChecksumDigits + kBehindChecksum.size();

std::string checksum_in_digits(std::string_view text) {
  std::uint64_t checksum = format::checksum(std::as_bytes(std::span(text)));
  std::string digits(kChecksumDigits, '0');
  for (std::size_t at = kChecksumDigits; at > 0; checksum >>= 4U)
    digits[--at] = "0123456789abcdef"[checksum & 0xFU];
  return digits;
}

}  // namespace

std::string with_checksum(std::string_view json) {
  // Without what closes it, and white space around that.
  std::string_view text = json.substr(0, json.rfind('}'));
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  return std::string(text).append(kBeforeChecksum).append(checksum_in_digits(text)).append(kBehindChecksum);
}

bool matches_checksum(std::string_view json) {
  if (json.size() < kChecksumSize) return true;
  const std::string_view text = json.substr(0, json.size() - kChecksumSize);
  const std::string_view end = json.substr(text.size());
  if (!end.starts_with(kBeforeChecksum) || !end.ends_with(kBehindChecksum)) return true;
  return end.substr(kBeforeChecksum.size(), kChecksumDigits) == checksum_in_digits(text);
}

}  // namespace lockstep::trace
