#include "analyzer/gate/policy.h"

#include <fmt/format.h>

#include <array>

#include "analyzer/figures/figures.h"

namespace lockstep::analyzer {
namespace {

constexpr double kTolerance = 0.03;
// What a user feels, and what scaling efficiency is lost by.
constexpr std::array kDefaultFigures{"step_time", "exposed_communication", "barrier_wait", "overlap_ratio"};

std::string name_of(std::string_view figure, const std::string& scope) {
  return scope.empty() ? std::string(figure) : fmt::format("{} of {}", figure, scope);
}

}  // namespace

std::string Rule::name() const {
  return name_of(figure->name, scope);
}

bool Expected::stands_for(const Rule& rule) const {
  return rule.figure->name == figure && rule.scope == scope;
}

std::string Expected::name() const {
  return name_of(figure, scope);
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
