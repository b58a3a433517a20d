#include "analyzer/html/picture.h"

#include <algorithm>

namespace lockstep::analyzer {

const Picture* find_picture(std::string_view name) {
  const std::span<const Picture* const> all = all_pictures();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Picture* picture) { return picture->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace lockstep::analyzer
