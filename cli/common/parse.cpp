#include "cli/common/parse.h"

#include <fmt/format.h>

#include <string_view>

#include "base/standard_streams.h"
#include "cli/common/exit_codes.h"
#include "cli/common/output.h"

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

void describe_color(CLI::App& app, std::string& color) {
  app.add_option("--color", color, "Colour: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("WHEN");
}

void describe_text(CLI::App& app, TextArguments& arguments) {
  app.add_flag("--ascii", arguments.ascii, "No characters outside ASCII");
  describe_color(app, arguments.color);
  app.add_option("--width", arguments.width, "Columns of the text [COLUMNS, else the terminal's, else 100]")
      ->check(CLI::Range(40, 1000))
      ->option_text("N");
}

}  // namespace lockstep::cli
