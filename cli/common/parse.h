// What every verb's command line has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/common/terminal.h"

namespace lockstep::cli {

// Parses argv into `app`. A value is the exit code with which the verb is over: help was asked for and
// printed, or the command line is wrong and stderr says how.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// --color auto, always or never; `color` is "auto" before.
void describe_color(CLI::App& app, std::string& color);

// --ascii, --color and --width.
void describe_text(CLI::App& app, TextArguments& arguments);

// What is wrong with the command line, in our words: the flag, its value, what it may be.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

// Prints "lockstep VERB: message" to stderr and returns kFailure.
int fail(std::string_view verb, const Error& error);

}  // namespace lockstep::cli
