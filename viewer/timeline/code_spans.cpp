#include "viewer/timeline/code_spans.h"

namespace lockstep::viewer {

std::string quote_code(std::string_view text) {
  std::string quoted(text);
  for (std::size_t open = quoted.find('`'); open != std::string::npos;) {
    const std::size_t close = quoted.find('`', open + 1);
    if (close == std::string::npos) break;
    quoted[open] = quoted[close] = '\'';
    open = quoted.find('`', close + 1);
  }
  return quoted;
}

}  // namespace lockstep::viewer
