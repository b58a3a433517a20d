#include "analyzer/import/kineto/json_text.h"

#include <simdjson.h>

#include <cstring>

namespace lockstep::analyzer::kineto {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Index one past the closing quote of the string whose opening quote is at `from`.
std::size_t string_end(std::string_view text, std::size_t from) {
  for (std::size_t at = from + 1; at < text.size();) {
    const auto* quote = static_cast<const char*>(std::memchr(text.data() + at, '"', text.size() - at));
    if (quote == nullptr) return kIncomplete;
    const std::size_t position = static_cast<std::size_t>(quote - text.data());
    std::size_t backslashes = 0;
    while (position - backslashes > from + 1 && text[position - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return position + 1;
    at = position + 1;
  }
  return kIncomplete;
}

// Length of the UTF-8 sequence at `at`, 0 if there is none (overlong forms, surrogates and stray bytes
// included).
std::size_t utf8_length(const char* text, std::size_t size, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < size && (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(at + 1) || !continues(at + 2)) return 0;
    if (first == 0xE0 && byte(at + 1) < 0xA0) return 0;
    if (first == 0xED && byte(at + 1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(at + 1) || !continues(at + 2) || !continues(at + 3)) return 0;
    if (first == 0xF0 && byte(at + 1) < 0x90) return 0;
    if (first == 0xF4 && byte(at + 1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

std::size_t skip_space(std::string_view text, std::size_t from) {
  while (from < text.size() && is_space(text[from])) ++from;
  return from;
}

std::size_t value_end(std::string_view text, std::size_t from) {
  if (from >= text.size()) return kIncomplete;
  if (text[from] == '"') return string_end(text, from);
  if (text[from] != '{' && text[from] != '[') {
    std::size_t at = from;
    while (at < text.size() && !is_space(text[at]) && std::strchr(",]}:{[\"", text[at]) == nullptr) ++at;
    return at < text.size() ? at : kIncomplete;
  }
  std::size_t depth = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = string_end(text, at);
        if (at == kIncomplete) return kIncomplete;
        --at;
        break;
      case '{':
      case '[':
        ++depth;
        break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default:
        break;
    }
  }
  return kIncomplete;
}

std::size_t last_object_boundary(std::string_view text) {
  std::size_t at = text.size();
  while (true) {
    at = at == 0 ? std::string_view::npos : text.rfind('{', at - 1);
    if (at == std::string_view::npos || at == 0) return std::string_view::npos;
    std::size_t before = at;
    while (before > 0 && is_space(text[before - 1])) --before;
    if (before == 0 || text[before - 1] != ',') continue;
    --before;
    while (before > 0 && is_space(text[before - 1])) --before;
    if (before > 0 && text[before - 1] == '}') return before;
  }
}

std::size_t repair_text(char* text, std::size_t size) {
  std::size_t replaced = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < size;) {
    const char c = text[at];
    if (in_string && c == '\\' && at + 1 < size && static_cast<unsigned char>(text[at + 1]) >= 0x20 &&
        static_cast<unsigned char>(text[at + 1]) < 0x80) {
      at += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      text[at++] = ' ';
      ++replaced;
      continue;
    }
    const std::size_t length = utf8_length(text, size, at);
    if (length == 0) {
      text[at++] = '?';
      ++replaced;
    } else {
      at += length;
    }
  }
  return replaced;
}

std::string unescape(std::string_view inside) {
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  simdjson::ondemand::parser parser;
  const simdjson::padded_string quoted(std::string("\"").append(inside).append("\""));
  simdjson::ondemand::document document;
  std::string_view text;
  if (parser.iterate(quoted).get(document) != simdjson::SUCCESS ||
      document.get_string().get(text) != simdjson::SUCCESS)
    return std::string(inside);
  return std::string(text);
}

}  // namespace lockstep::analyzer::kineto
