// For tests: an analysis, of whose report what always holds is checked.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/report_invariants.h"

namespace lockstep::analyzer {

inline void expect_invariants(const Report& report) {
  for (const std::string& broken : broken_invariants(report)) ADD_FAILURE() << broken;
}

// A job that can't be analyzed fails the test.
inline Analysis checked_analysis(const Job& job, const AnalysisOptions& options = {}) {
  Result<Analysis> analysis = analyze(job, options);
  if (!analysis.ok()) ADD_FAILURE() << analysis.error().message;
  if (!analysis.ok()) return {};
  expect_invariants(analysis.value().report);
  return std::move(analysis).value();
}

}  // namespace lockstep::analyzer
