// What each finding means, how it is found, what would show it wrong, and which settings change it:
// `lockstep explain CODE` and the pages of docs/findings/. All of it stands in the table of kinds
// (analyzer/diagnose/finding_kinds.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/report/page.h"

namespace lockstep::analyzer {

// The kinds that one explanation is of: several where they differ by degree alone.
struct ExplainedKinds {
  std::vector<const FindingKind*> kinds;  // at least one
  const Explanation& explanation() const { return *kinds.front()->explanation; }
  std::string_view title() const { return kinds.front()->title; }
};

// In the order of the table: alarms first, then that in which a report has them at equal loss.
std::span<const ExplainedKinds> explanations();

// nullptr if no finding has that code.
const ExplainedKinds* find_explanation(std::string_view code);

void print_explanation(const ExplainedKinds& explained, Page& page);
// One line for each: its codes and its title.
void print_explanations(Page& page);
// All of them as one page of Markdown.
std::string explanations_as_markdown();

// A page of docs/findings/, in Markdown.
struct ExplanationPage {
  std::string file_name;  // "straggler_persistent.md": after the first of its codes
  std::string text;
};
// One for each, in the order of explanations().
std::vector<ExplanationPage> explanation_pages();
// README.md beside them: a line for each kind, in the order of the table.
ExplanationPage index_of_pages();

}  // namespace lockstep::analyzer
