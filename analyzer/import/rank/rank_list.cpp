#include "analyzer/import/rank/rank_list.h"

#include <charconv>

namespace lockstep::analyzer {

RankList parse_ranks(std::string_view text) {
  RankList list;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at >= '0' && *at <= '9') {
      std::int32_t rank = 0;
      const auto parsed = std::from_chars(at, end, rank);
      if (parsed.ec != std::errc()) {
        list.cut = true;
        return list;
      }
      list.ranks.push_back(rank);
      at = parsed.ptr;
      continue;
    }
    if (*at != '[' && *at != ']' && *at != ',' && *at != ' ' && *at != '"' && *at != '\n' && *at != '\r' &&
        *at != '\t')
      list.cut = true;
    ++at;
  }
  return list;
}

}  // namespace lockstep::analyzer
