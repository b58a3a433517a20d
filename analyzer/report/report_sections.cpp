#include "analyzer/report/report_sections.h"

#include <array>

namespace lockstep::analyzer {
namespace {

constexpr auto kSections = std::to_array<const ReportSection*>({
    &sections::account,
    &sections::verdict,
    &sections::findings,
    &sections::ranks,
    &sections::steps,
    &sections::pipelines,
    &sections::collectives,
    &sections::wait_states,
    &sections::groups,
    &sections::buckets,
    &sections::theory,
    &sections::layers,
    &sections::unknown,
});

}  // namespace

std::span<const ReportSection* const> report_sections() {
  return kSections;
}

}  // namespace lockstep::analyzer
