// The report as one self-contained web page: no network, opens from disk, light and dark. The same figures in
// the same order as the text report, drawn, with filters by step, rank and group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct HtmlOptions {
  std::string selection;           // what was selected, in words; empty: everything
  std::int64_t resolution_ns = 1;  // of the timestamps
  // Operations that are listed (the most waited in first), and of how many of them every arrival is drawn.
  std::size_t collectives = 4000;
  std::size_t arrivals = 48;
};

// About 40 KB, and 130 bytes a step of a rank. Names that are not UTF-8 get U+FFFD for each wrong byte.
// Failure is the stream's state.
void write_html(const Report& report, const HtmlOptions& options, std::ostream& out);

// What the page is drawn from: a JSON document, of this version's page alone.
std::string html_data(const Report& report, const HtmlOptions& options);

}  // namespace lockstep::analyzer
