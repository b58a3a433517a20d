// What the sections of the text report share (report_sections.h lists them). Internal to this library; text.h
// is its front.
#pragma once

#include "analyzer/report/page.h"
#include "analyzer/report/report.h"
#include "analyzer/report/text.h"

namespace lockstep::analyzer {

// Sums over the ranks of a report whose measures are known.
struct Totals {
  bool waits_known = false;  // of any of them
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t communication_ns = 0;
  std::int64_t overlap_ns = 0;
  std::int64_t exposed_ns = 0;
  std::int64_t wait_ns = 0;  // all waits: of collectives and p2p, exposed and hidden
  std::int64_t exposed_wait_ns = 0;
  std::int64_t root_wait_ns = 0;  // RankReport::root_wait_ns
  Partition partition;
};
Totals totals_of(const Report& report);
// How long training threads waited for a core, of the ranks of which the recorder looked.
struct CoreWaits {
  std::size_t ranks = 0;
  std::int64_t waited_ns = 0, asleep_ns = 0, window_ns = 0;
  const RankReport* worst = nullptr;  // by its share of its window
};
CoreWaits core_waits_of(const Report& report);
// All waits of one rank: of collectives and p2p, exposed and hidden.
std::int64_t wait_of(const Measures& measures);
std::int64_t exposed_wait_of(const Measures& measures);
// Whether this rank is late again and again (LatenessReport), or a finding says that it is.
bool is_late(const Report& report, std::int32_t rank);
// Whether a finding says that this rank, or its link, is at fault.
bool is_accused(const Report& report, std::int32_t rank);
// Whether a host has fewer cores than its ranks want, as a finding says.
bool cores_are_few(const Report& report);
// Of ranks that nobody can blame because nothing tells whether the cores are why (NotAccused::cores_unknown):
// the end of a sentence "rank 2 comes last again and again, ", without a full stop.
std::string without_cores_known(const Report& report);
// Whether the others lost as much to it as is worth a word, a hundredth of all ranks' time, and a finding
// accuses it; where a rank left no record, it is late again and again; where there are too few steps to tell,
// the time alone, if no other rank is waited for half as long.
bool is_worth_blaming(const Report& report, const BlameReport& blame);
// Whether tables mark this rank as one to blame: it is worth blaming, and a finding accuses it or its link.
// That it is waited for longest is no blame: somebody always is.
bool is_marked(const Report& report, std::int32_t rank);
// How long other ranks waited for this one, without what a pipeline's schedule makes; 0 where nobody did.
std::int64_t lateness_of(const BlameReport& blame);
std::int64_t lateness_of(const Report& report, std::int32_t rank);
// And how long as such a schedule makes them.
std::int64_t scheduled_of(const Report& report, std::int32_t rank);
// Who is late, the worst first.
std::vector<const BlameReport*> late_ranks(const Report& report);
bool has_scheduled_waits(const Report& report);

void print_headline(const Report& report, const TextOptions& options, Page& page);
// Whom the others wait for, where it is the same rank again and again; else that it is nobody.
void print_blame(const Report& report, const Totals& totals, Page& page);
void print_legend(const Report& report, Page& page);

// The heading of a section, with a blank line before it.
void print_heading(Page& page, const char* title, const std::string& remark = "");
// "… 12 more: --collectives all"
void print_more(Page& page, std::size_t more, const char* flag);

// Cells of tables.
Line share_cell(std::int64_t part, std::int64_t whole);
Line duration_cell(std::int64_t ns);  // 0 is dimmed
Line duration_cell(std::optional<std::int64_t> ns);
// "a, b and c"
Line enumerate(const std::vector<Line>& items);
// "rank 2", "ranks 2, 5 and 7", "ranks 0, 1, 2 and 9 others"
std::string name_ranks(const std::vector<std::int32_t>& ranks);

}  // namespace lockstep::analyzer
