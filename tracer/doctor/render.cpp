#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/words.h"
#include "tracer/doctor/doctor.h"

namespace lockstep::tracer::doctor {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMarkWidth = 9;

const char* color_of(State state) {
  switch (state) {
    case State::ok:
      return "\x1b[32m";
    case State::note:
      return "\x1b[2m";
    case State::limited:
      return "\x1b[33m";
    case State::missing:
      return "\x1b[31m";
  }
  return "";
}

std::string mark(State state, const TextStyle& style) {
  const std::string word = state == State::note ? "-" : to_string(state);
  const std::string padded = fmt::format("{:<{}}", word, kMarkWidth);
  return style.color ? color_of(state) + padded + "\x1b[0m" : padded;
}

// What others wrote (paths, errors of libraries) may hold anything; a line stays a line, and a terminal what
// it was.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return printable(text);
}

}  // namespace

std::string to_text(const Examination& examination, const TextStyle& style) {
  std::string text = "What can be recorded on " + one_line(examination.host);
  if (!examination.command.empty())
    text += fmt::format(", of {}", one_line(join_words(examination.command, " ")));
  text += "\n\n";
  for (const SourceVerdict& source : examination.sources) {
    text += fmt::format("  {}{:<10} {}\n", mark(source.state, style), source.name, one_line(source.reason));
  }
  text += "\nChecks\n\n";
  std::size_t width = 0;
  for (const Check& check : examination.checks) width = std::max(width, check.name.size());
  for (const Check& check : examination.checks) {
    text +=
        fmt::format("  {}{:<{}} {}\n", mark(check.state, style), check.name, width, one_line(check.finding));
    if (check.remedy.empty()) continue;
    text += fmt::format("  {:<{}}{:<{}} -> {}\n", "", kMarkWidth, "", width, one_line(check.remedy));
  }
  if (!examination.unmet.empty()) {
    text += fmt::format("\nRequired and missing: {}\n", join_words(examination.unmet, ", "));
  }
  return text;
}

std::string to_json(const Examination& examination) {
  Json json;
  json["schema"] = "lockstep.doctor/1";
  json["lockstep_version"] = LOCKSTEP_VERSION;
  json["host"] = examination.host;
  json["command"] = examination.command;
  json["folder"] = examination.folder;
  json["sources"] = Json::object();
  for (const SourceVerdict& source : examination.sources) {
    json["sources"][source.name] = {{"state", to_string(source.state)}, {"reason", source.reason}};
  }
  json["checks"] = Json::array();
  for (const Check& check : examination.checks) {
    json["checks"].push_back({{"name", check.name},
                              {"state", to_string(check.state)},
                              {"sources", check.sources},
                              {"finding", check.finding},
                              {"remedy", check.remedy},
                              {"values", check.values}});
  }
  json["required"] = examination.required;
  json["unmet"] = examination.unmet;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::tracer::doctor
