#include "analyzer/report/report_sections.h"

#include <array>

namespace lockstep::analyzer {
namespace {

constexpr auto kSections = std::to_array<const ReportSection*>({
#define LOCKSTEP_REPORT_SECTION(name) &sections::name,
#include "analyzer/report/report_sections.def"
});

}  // namespace

std::span<const ReportSection* const> report_sections() {
  return kSections;
}

}  // namespace lockstep::analyzer
