// All figures of a run, out of its report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figures/figure.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

namespace figures {
#define LOCKSTEP_FIGURE(name) extern const FigureKind name;
#include "analyzer/figures/figures.def"
}  // namespace figures

std::span<const FigureKind* const> figure_kinds();
const FigureKind* find_figure_kind(std::string_view name);  // nullptr: there is none

struct FigureValues {
  const FigureKind* kind = nullptr;
  std::vector<ScopedValue> values;  // of the job first; each scope once
  std::optional<double> of(std::string_view scope) const;
};

// Of the whole run's report, analyzed with AnalysisOptions::steady; in the order of figures.def, those alone
// that the run tells.
std::vector<FigureValues> figures_of(const Report& report);

}  // namespace lockstep::analyzer
