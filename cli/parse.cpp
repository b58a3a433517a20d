#include "cli/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "base/standard_streams.h"
#include "cli/output.h"
#include "cli/verb.h"

namespace lockstep::cli {

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_to_stdout(app.get_name(), app.help());
  } catch (const CLI::ParseError& error) {
    tell(fmt::format("{}: {}\nSee {} --help.\n", app.get_name(), explain(app, error), app.get_name()));
    return kUsage;
  }
  return std::nullopt;
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::size_t colon = text.find(": ");
  const std::string name = text.substr(0, colon);
  if (!name.starts_with("-") || colon == std::string::npos) return text;
  // "--steps: At Most 1 required but received 2"
  constexpr std::string_view kReceived = " required but received ";
  if (const std::size_t received = text.find(kReceived);
      received != std::string::npos && text.find(": At Most ") == colon) {
    const std::string_view times = std::string_view(text).substr(received + kReceived.size());
    return times == "2" ? fmt::format("{} is given twice: give it once", name)
                        : fmt::format("{} is given {} times: give it once", name, times);
  }
  // "--output: 1 required TEXT missing"
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
      text.find("required") != std::string::npos) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    return fmt::format("{} needs a value{}", name,
                       option != nullptr ? ": " + option->get_description() : std::string());
  }
  // "--color: red not in {auto,always,never}"
  constexpr std::string_view kNotIn = " not in {";
  const std::size_t list = text.find(kNotIn);
  if (list == std::string::npos || !text.ends_with("}")) return text;
  std::string allowed = text.substr(list + kNotIn.size());
  allowed.pop_back();
  for (std::size_t comma = allowed.find(','); comma != std::string::npos;
       comma = allowed.find(',', comma + 2))
    allowed.insert(comma + 1, " ");
  return fmt::format("{} {}: give one of {}", name, text.substr(colon + 2, list - colon - 2), allowed);
}

int fail(std::string_view verb, const Error& error) {
  tell(fmt::format("lockstep {}: {}\n", verb, error.message));
  return kFailure;
}

Result<StepRange> parse_step_range(const std::string& text) {
  const Error wrong{fmt::format("--steps {}: give a step or a range of steps, as in 3, 3:5, 3: or :5", text)};
  const std::size_t colon = text.find(':');
  const std::string_view first = std::string_view(text).substr(0, colon);
  StepRange range;
  const auto read = [](std::string_view word, std::optional<long long>& number) {
    if (word.empty()) return true;
    number = parse_number<long long>(word);
    return number.has_value();
  };
  if (text.empty() || !read(first, range.first)) return wrong;
  if (colon == std::string::npos) {
    range.last = range.first;
  } else if (text.size() == 1 || !read(std::string_view(text).substr(colon + 1), range.last)) {
    return wrong;
  }
  if (range.first && range.last && *range.first > *range.last) {
    return Error{fmt::format("--steps {}: the first step is greater than the last", text)};
  }
  return range;
}

Result<std::vector<analyzer::RankRange>> parse_rank_list(const std::string& flag, const std::string& text) {
  const Error wrong{fmt::format("{} {}: give ranks and ranges of ranks, as in 3, 0,4 or 0:3,8", flag, text)};
  std::vector<analyzer::RankRange> ranks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const std::size_t between = part.find_first_of(":-");
    const auto first = parse_number<std::int32_t>(part.substr(0, between), 0);
    const auto last =
        between == std::string_view::npos ? first : parse_number<std::int32_t>(part.substr(between + 1), 0);
    if (!first || !last) return wrong;
    if (*first > *last)
      return Error{fmt::format("{} {}: the first rank of {} is greater than the last", flag, text, part)};
    ranks.push_back({*first, *last});
    begin = end + 1;
  }
  return ranks;
}

Result<std::size_t> parse_rows(const std::string& flag, const std::string& text) {
  if (text == "all") return std::numeric_limits<std::size_t>::max();
  const auto rows = parse_number<std::size_t>(text, 1);
  if (!rows) return Error{fmt::format("{} {}: give a number from 1 on, or all", flag, text)};
  return *rows;
}

void describe_color(CLI::App& app, std::string& color) {
  app.add_option("--color", color, "Colour: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN");
}

}  // namespace lockstep::cli
