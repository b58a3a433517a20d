// What every verb's command line has in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/restrict_report.h"
#include "base/result.h"

namespace lockstep::cli {

// Parses argv into `app`. A value is the exit code with which the verb is over: help was asked for and
// printed, or the command line is wrong and stderr says how.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

// --color auto, always or never; `color` is "auto" before.
void describe_color(CLI::App& app, std::string& color);

// What is wrong with the command line, in our words: the flag, its value, what it may be.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

// Prints "lockstep VERB: message" to stderr and returns kFailure.
int fail(std::string_view verb, const Error& error);

// "3", "3:5", "3:" and ":5".
struct StepRange {
  std::optional<long long> first, last;
};
Result<StepRange> parse_step_range(const std::string& text);

// "3", "0,4:7" and "0-3": ranks and ranges of them, both ends included. `flag` is for the message.
Result<std::vector<analyzer::RankRange>> parse_rank_list(const std::string& flag, const std::string& text);

// A number of table rows, or "all".
Result<std::size_t> parse_rows(const std::string& flag, const std::string& text);

}  // namespace lockstep::cli
