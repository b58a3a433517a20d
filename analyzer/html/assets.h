// The page's files, as CMake puts them into the library. Internal.
#pragma once

#include <string_view>

namespace lockstep::analyzer::html_assets {

extern const std::string_view kPage;    // with /*STYLE*/, /*DATA*/ and /*SCRIPT*/ in it, in this order
extern const std::string_view kStyle;   // style.css
extern const std::string_view kScript;  // all scripts, page.js last
extern const std::string_view kQuantityScript;  // quantity.js alone, for its test

}  // namespace lockstep::analyzer::html_assets
