#include "analyzer/html/html.h"

#include <array>
#include <ostream>
#include <string_view>
#include <utility>

#include "analyzer/html/assets.h"

namespace lockstep::analyzer {
namespace {

// JSON inside a script element: no text in it may end the element.
std::string inside_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

void write_html(const Report& report, const HtmlOptions& options, std::ostream& out) {
  const std::string data = inside_script(html_data(report, options));
  const std::array<std::pair<std::string_view, std::string_view>, 3> parts{{
      {"/*STYLE*/", html_assets::kStyle},
      {"/*DATA*/", data},
      {"/*SCRIPT*/", html_assets::kScript},
  }};
  std::string_view rest = html_assets::kPage;
  for (const auto& [mark, text] : parts) {
    const std::size_t at = rest.find(mark);
    out << rest.substr(0, at) << text;
    rest.remove_prefix(at + mark.size());
  }
  out << rest;
}

}  // namespace lockstep::analyzer
