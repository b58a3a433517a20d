// What each finding means, how it is found, what would show it wrong, and which settings change it:
// `lockstep explain CODE` and docs/findings.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/page.h"

namespace lockstep::analyzer {

struct Remedy {
  std::string_view where;  // "DDP", "FSDP", "DeepSpeed", "Megatron", "NCCL", "the program", …
  std::string_view what;   // the setting as it is written there, and what it does
};

struct Explanation {
  std::vector<std::string_view> codes;  // Finding::code; several where they differ by degree alone
  std::string_view title;               // one line
  std::string_view meaning;
  std::string_view found;  // figures and thresholds, as in docs/metrics.md
  std::string_view wrong;  // what in the trace would show that it does not hold
  std::string_view lost;   // what is counted as lost; empty if nothing is
  std::vector<Remedy> remedies;
};

// In the order in which a report has them at equal loss.
std::span<const Explanation> explanations();

// nullptr if no finding has that code.
const Explanation* find_explanation(std::string_view code);

void print_explanation(const Explanation& explanation, Page& page);
// One line for each: its codes and its title.
void print_explanations(Page& page);
// All of them as docs/findings.md.
std::string explanations_as_markdown();

}  // namespace lockstep::analyzer
