#include "analyzer/import/rank/rank_list.h"

#include "base/numbers.h"

namespace lockstep::analyzer {

namespace {

constexpr std::string_view kBetween = "[], \"\n\r\t";

}  // namespace

RankList parse_ranks(std::string_view text) {
  RankList list;
  while (!text.empty()) {
    if (is_digit(text.front())) {
      const auto rank = take_number<std::int32_t>(text);
      if (!rank) {
        list.cut = true;
        return list;
      }
      list.ranks.push_back(*rank);
      continue;
    }
    if (kBetween.find(text.front()) == std::string_view::npos) list.cut = true;
    text.remove_prefix(1);
  }
  return list;
}

}  // namespace lockstep::analyzer
