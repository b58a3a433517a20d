// A section of the report, in its three forms. Each stands with its text in one file text_*.cpp, and in the
// list report_sections.def.
#pragma once

#include <span>
#include <string_view>

namespace lockstep::analyzer {

class Page;
struct Report;
struct TextOptions;

struct ReportSection {
  std::string_view id;       // "wait_states"
  const char* title;         // the heading of its text; empty: none
  std::string_view on_page;  // the id of its element on the web page (analyzer/html/page.html)
  // The members of the JSON document that hold its figures; of some sections nothing that is theirs alone.
  std::span<const std::string_view> json;
  // Its text, from the heading on; nothing where there is nothing to say.
  void (*print)(const Report& report, const TextOptions& options, Page& page);
};

}  // namespace lockstep::analyzer
