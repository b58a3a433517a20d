// Sentences of the report, where nothing can be set in another font.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::viewer {

// "see `top`" as "see 'top'". A backtick without a partner is part of somebody's name, and stays.
std::string quote_code(std::string_view text);

}  // namespace lockstep::viewer
