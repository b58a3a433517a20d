#include "analyzer/figures/figures.h"

#include <algorithm>
#include <array>

#include "analyzer/figures/steady_part.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kKinds = std::to_array<const FigureKind*>({
#define LOCKSTEP_FIGURE(name) &figures::name,
#include "analyzer/figures/figures.def"
});

}  // namespace

std::span<const FigureKind* const> figure_kinds() {
  return kKinds;
}

const FigureKind* find_figure_kind(std::string_view name) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const FigureKind* kind) { return kind->name == name; });
  return found == kKinds.end() ? nullptr : *found;
}

std::optional<double> FigureValues::of(std::string_view scope) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const ScopedValue& value) { return value.scope == scope; });
  return found == values.end() ? std::nullopt : std::optional(found->value);
}

std::vector<FigureValues> figures_of(const Report& report) {
  const SteadyPart run = steady_part(report);
  std::vector<FigureValues> all;
  for (const FigureKind* kind : kKinds) {
    std::vector<ScopedValue> values = kind->values(run);
    if (!values.empty()) all.push_back({kind, std::move(values)});
  }
  return all;
}

}  // namespace lockstep::analyzer
