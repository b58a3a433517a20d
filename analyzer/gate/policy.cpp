#include "analyzer/gate/policy.h"

#include <fmt/format.h>

#include <array>

#include "analyzer/figures/figures.h"

namespace lockstep::analyzer {
namespace {

constexpr double kTolerance = 0.03;
// What a user feels, and what scaling efficiency is lost by.
constexpr std::array kDefaultFigures{"step_time", "exposed_communication", "barrier_wait", "overlap_ratio"};

}  // namespace

std::string Rule::name() const {
  return scope.empty() ? std::string(figure->name) : fmt::format("{} of {}", figure->name, scope);
}

Policy default_policy() {
  Policy policy{.source = "the default policy", .rules = {}, .expected = {}};
  for (const char* name : kDefaultFigures) {
    const FigureKind* const figure = find_figure_kind(name);
    policy.rules.push_back({.figure = figure,
                            .scope = "",
                            .bound = std::nullopt,
                            .tolerance = {.relative = kTolerance, .floor = figure->floor}});
  }
  return policy;
}

}  // namespace lockstep::analyzer
