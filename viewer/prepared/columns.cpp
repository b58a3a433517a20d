#include "viewer/prepared/columns.h"

#include <algorithm>

namespace lockstep::viewer {

namespace {

void append(RowColumns& row, const Event& event) {
  const Nanoseconds begin = row.end.empty() ? event.begin : std::max(event.begin, row.end.back());
  const Nanoseconds end = std::max(event.end, begin);
  row.busy.push_back((row.busy.empty() ? 0 : row.busy.back()) + distance(begin, end));
  row.begin.push_back(begin);
  row.end.push_back(end);
  row.item.push_back(event.item);
}

bool has_room(const RowColumns& row, const Event& event, Nanoseconds tolerance) {
  if (row.end.empty() || event.begin >= row.end.back()) return true;
  // Cut only what then still has a length of its own: an event that ends within its predecessor is nested,
  // not late.
  return event.end > row.end.back() &&
         distance(event.begin, row.end.back()) < static_cast<std::uint64_t>(tolerance);
}

}  // namespace

std::vector<RowColumns> make_rows(std::vector<Event> events, Nanoseconds tolerance, std::size_t most) {
  // Equal begins: the shorter first if it has no length, so that it ends where the other one begins; else the
  // longer, which is the outer one.
  const auto before = [](const Event& a, const Event& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.depth != b.depth) return a.depth < b.depth;
    const bool a_empty = a.end == a.begin;
    const bool b_empty = b.end == b.begin;
    if (a_empty != b_empty) return a_empty;
    return a.end != b.end ? a.end > b.end : a.item < b.item;
  };
  if (!std::is_sorted(events.begin(), events.end(), before)) std::sort(events.begin(), events.end(), before);

  std::vector<RowColumns> rows;
  for (const Event& event : events) {
    std::size_t at = std::min<std::size_t>(event.depth, most - 1);
    if (rows.size() <= at) rows.resize(at + 1);
    while (at + 1 < most && !has_room(rows[at], event, tolerance)) {
      if (++at == rows.size()) rows.emplace_back();
    }
    append(rows[at], event);
  }
  return rows;
}

std::size_t first_ending_from(Columns columns, Nanoseconds time) {
  return static_cast<std::size_t>(std::lower_bound(columns.end.begin(), columns.end.end(), time) -
                                  columns.end.begin());
}

}  // namespace lockstep::viewer
