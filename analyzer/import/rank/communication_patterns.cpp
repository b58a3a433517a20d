#include "analyzer/import/rank/communication_patterns.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "trace/events/communication_names.h"

namespace lockstep::analyzer {
namespace {

using trace::Operation;

constexpr Operation kLast = Operation::send_recv;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<Operation> operation_of(std::string_view word) {
  for (int i = 1; i <= static_cast<int>(kLast); ++i)
    if (word == to_string(static_cast<Operation>(i))) return static_cast<Operation>(i);
  return std::nullopt;
}

std::string all_operations() {
  std::string list;
  for (int i = 1; i <= static_cast<int>(kLast); ++i)
    list += fmt::format("{}{}", i > 1 ? ", " : "", to_string(static_cast<Operation>(i)));
  return list;
}

// An expression may hold '=' too: what follows the last one is an operation if it is a word.
bool is_a_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

}  // namespace

Status CommunicationPatterns::add(std::string_view text, const std::string& where) {
  Pattern pattern;
  pattern.text = text;
  std::string_view expression = text;
  if (const std::size_t equals = text.rfind('=');
      equals != std::string_view::npos && is_a_word(trimmed(text.substr(equals + 1)))) {
    const std::string_view word = trimmed(text.substr(equals + 1));
    pattern.operation = operation_of(word);
    if (!pattern.operation)
      return Error{fmt::format("{}: '{}' is no operation; there are {}", where, word, all_operations())};
    expression = trimmed(text.substr(0, equals));
  }
  if (expression.empty())
    return Error{
        fmt::format("{}: give a regular expression, and after '=' the operation if you know it", where)};
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled =
      std::make_shared<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options);
  if (!compiled->ok())
    return Error{fmt::format("{}: '{}' is no regular expression: {}", where, expression, compiled->error())};
  pattern.expression = std::move(compiled);
  patterns_.push_back(std::move(pattern));
  identity_ += fmt::format("{}\n", text);
  return {};
}

Status CommunicationPatterns::add_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("@{}: can't be read: {}", path, std::strerror(errno))};
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::string_view text = line;
    if (number == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    text = trimmed(text);
    if (text.empty() || text.front() == '#') continue;
    if (const Status status = add(text, fmt::format("{}, line {}", path, number)); !status.ok())
      return status;
  }
  if (file.bad()) return Error{fmt::format("@{}: can't be read: {}", path, std::strerror(errno))};
  return {};
}

Result<std::shared_ptr<const CommunicationPatterns>> CommunicationPatterns::parse(
    const std::vector<std::string>& texts) {
  auto patterns = std::make_shared<CommunicationPatterns>();
  for (const std::string& text : texts) {
    const Status status = text.starts_with('@') ? patterns->add_file(text.substr(1))
                                                : patterns->add(trimmed(text), fmt::format("'{}'", text));
    if (!status.ok()) return status.error();
  }
  return std::shared_ptr<const CommunicationPatterns>(std::move(patterns));
}

std::vector<std::string> CommunicationPatterns::not_found_in(
    const std::vector<std::string_view>& names) const {
  std::vector<std::string> missing;
  for (const Pattern& pattern : patterns_)
    if (std::none_of(names.begin(), names.end(), [&](std::string_view name) {
          return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern.expression);
        }))
      missing.push_back(pattern.text);
  return missing;
}

std::optional<Operation> CommunicationPatterns::find(std::string_view name) const {
  for (const Pattern& pattern : patterns_) {
    if (!re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern.expression)) continue;
    return pattern.operation.value_or(trace::operation_in_name(name));
  }
  return std::nullopt;
}

}  // namespace lockstep::analyzer
