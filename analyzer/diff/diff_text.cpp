// A comparison on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analyzer/diff/diff_outputs.h"
#include "analyzer/diff/diff_words.h"
#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "base/counts.h"
#include "base/number_lists.h"
#include "base/words.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kNameWidth = 40, kValueWidth = 36;

class Text {
 public:
  Text(const RunsDiff& diff, const DiffTextOptions& options)
      : diff_(diff), page_(options.page), rows_(options.rows), ascii_(options.page.ascii) {}

  std::string write(const std::vector<Suspect>& suspects) {
    page_.wrap(Line{}.bold(headline(diff_)), 0, 2);
    page_.wrap(Line{}.dim(certainty(diff_)), 0, 2);
    for (const DiffSide* side : {&diff_.a, &diff_.b})
      for (const std::string& failure : side->failures)
        page_.wrap(Line{}.text("warning: " + printable(failure)), 0, 2);
    if (!diff_.ranks_left_out.empty())
      page_.wrap(Line{}.text(fmt::format("warning: without {} {}, of which some run has no times",
                                         diff_.ranks_left_out.size() == 1 ? "rank" : "ranks",
                                         number_ranges(diff_.ranks_left_out))),
                 0, 2);
    print_causes();
    print_ranks();
    print_groups();
    print_collectives();
    print_layers();
    print_phases();
    print_suspects(suspects);
    page_.blank();
    print_side("A", diff_.a);
    print_side("B", diff_.b);
    return page_.take();
  }

 private:
  void heading(const char* title, const char* remark) {
    page_.blank();
    page_.wrap(Line{}.bold(title).dim(fmt::format(" — {}", remark)), 0, 2);
  }
  static Line time(std::int64_t ns) {
    if (ns == 0) return Line{}.dim("0");
    return Line{}.text(ns < 0 ? format_change(ns) : format_duration(ns));
  }
  static Line change(std::int64_t ns) { return ns == 0 ? Line{}.dim("0") : Line{}.text(format_change(ns)); }
  static Line plus_minus(const Spread& spread) {
    const std::optional<double> half = spread.half_width_ns();
    return half ? Line{}.dim("± " + format_duration(std::llround(*half))) : Line{}.dim(kAbsent);
  }
  Line name(std::string_view text) const { return Line{}.text(fit(printable(text), kNameWidth, ascii_)); }
  void more(std::size_t all) {
    if (all > rows_) page_.add(Line{}.dim(fmt::format("  … {} more: --rows all", all - rows_)));
  }
  // What no part accounts for, and the whole: the last rows of a split. What rounding alone leaves is no row:
  // half a nanosecond of each part.
  void add_end(Table& table, const char* rest_name, const TimePair& rest, std::size_t parts,
               const char* whole_name, const TimePair& whole, std::size_t empty_columns) {
    const auto most = static_cast<std::int64_t>(parts);
    const bool rounding = std::abs(rest.a_ns) <= most && std::abs(rest.b_ns) <= most;
    for (const auto& [label, pair, is_whole] :
         {std::tuple{rest_name, &rest, false}, std::tuple{whole_name, &whole, true}}) {
      if (!is_whole && rounding) continue;
      std::vector<Line> cells{is_whole ? Line{}.bold(label) : Line{}.dim(label)};
      cells.resize(1 + empty_columns);
      for (Line cell : {time(pair->a_ns), time(pair->b_ns), change(pair->change_ns())})
        cells.push_back(std::move(cell));
      table.add_row(std::move(cells));
    }
  }

  void print_causes() {
    heading("by cause", "of a rank's step, the mean over ranks and steps");
    Table table(
        {{"cause", false, 0}, {"A", true, 0}, {"B", true, 0}, {"change", true, 0}, {"by chance", true, 1}});
    std::vector<const CauseDiff*> order;
    for (const CauseDiff& cause : diff_.causes)
      if (cause.time.a_ns != 0 || cause.time.b_ns != 0) order.push_back(&cause);
    std::stable_sort(order.begin(), order.end(), [](const CauseDiff* x, const CauseDiff* y) {
      return std::abs(x->time.change_ns()) > std::abs(y->time.change_ns());
    });
    for (const CauseDiff* cause : order)
      table.add_row({Line{}.cause(label_of(diff_, cause->cause), cause->cause), time(cause->time.a_ns),
                     time(cause->time.b_ns), change(cause->time.change_ns()), plus_minus(cause->spread)});
    table.add_row({Line{}.bold("step"), time(diff_.step.a_ns), time(diff_.step.b_ns),
                   change(diff_.step.change_ns()), plus_minus(diff_.spread)});
    table.print(page_, 2);
  }

  // What this rank does itself changed most by this.
  Line cause_of_own(const RankDiff& rank) const {
    std::size_t greatest = kCauseCount;
    for (std::size_t cause = 0; cause < kCauseCount; ++cause)
      if (is_own(static_cast<Cause>(cause)) && rank.causes[cause].change_ns() != 0 &&
          (greatest == kCauseCount ||
           std::abs(rank.causes[cause].change_ns()) > std::abs(rank.causes[greatest].change_ns())))
        greatest = cause;
    if (greatest == kCauseCount) return {};
    return Line{}.cause(fmt::format("{} {}", label_of(diff_, static_cast<Cause>(greatest)),
                                    format_change(rank.causes[greatest].change_ns())),
                        static_cast<Cause>(greatest));
  }

  void print_ranks() {
    if (diff_.ranks.size() < 2) return;
    heading("by rank",
            "of its own step; a rank's part of the difference is that divided by the number of ranks");
    Table table({{"rank", true, 0},
                 {"A", true, 0},
                 {"B", true, 0},
                 {"change", true, 0},
                 {"own work", true, 0},
                 {"by chance", true, 1},
                 {"of that", false, 1},
                 {"waiting and transfer", true, 1}});
    std::vector<const RankDiff*> order;
    for (const RankDiff& rank : diff_.ranks) order.push_back(&rank);
    std::stable_sort(order.begin(), order.end(), [](const RankDiff* x, const RankDiff* y) {
      return std::abs(x->own.change_ns()) > std::abs(y->own.change_ns());
    });
    order.resize(std::min(order.size(), rows_));
    std::sort(order.begin(), order.end());  // as they stand in the list: by rank
    for (const RankDiff* rank : order)
      table.add_row({Line{}.text(fmt::format("{}", rank->rank)), time(rank->step.a_ns), time(rank->step.b_ns),
                     change(rank->step.change_ns()), change(rank->own.change_ns()),
                     plus_minus(rank->own_spread), cause_of_own(*rank),
                     change(rank->step.change_ns() - rank->own.change_ns())});
    table.print(page_, 2);
    more(diff_.ranks.size());
  }

  // Operations that run at the same time count each, the time in which they are exposed once.
  const char* rest_of_collectives() const {
    const TimePair& rest = diff_.collectives.rest;
    if (rest.a_ns <= 0 && rest.b_ns <= 0) return "counted twice: at the same time";
    return rest.a_ns >= 0 && rest.b_ns >= 0 ? "of no recurring collective"
                                            : "at the same time, or not recurring";
  }

  void print_groups() {
    if (diff_.groups.size() < 2) return;
    heading("by process group", "communication beside which nothing computes");
    Table table({{"group", false, 0}, {"A", true, 0}, {"B", true, 0}, {"change", true, 0}});
    for (std::size_t i = 0; i < std::min(rows_, diff_.groups.size()); ++i) {
      const GroupDiff& group = diff_.groups[i];
      table.add_row({name(group.name.empty() ? "(no name)" : group.name), time(group.time.a_ns),
                     time(group.time.b_ns), change(group.time.change_ns())});
    }
    add_end(table, rest_of_collectives(), diff_.collectives.rest, diff_.collectives.parts.size(), "exposed",
            diff_.collectives.whole, 0);
    table.print(page_, 2);
    more(diff_.groups.size());
  }

  // "25.0 MB", "25.0 → 1.00 MB"; "1" and "1 → 25" of counts.
  static Line pair_cell(const std::string& a, const std::string& b, Presence presence) {
    if (presence == Presence::only_b) return Line{}.text(b);
    if (presence == Presence::only_a || a == b) return Line{}.text(a);
    return Line{}.text(fmt::format("{} → {}", a, b));
  }
  static Line size_cell(const CollectiveDiff& part) {
    const auto text = [](std::optional<std::int64_t> bytes) {
      return bytes ? format_bytes(*bytes) : std::string(kAbsent);
    };
    return pair_cell(text(part.bytes_a), text(part.bytes_b), part.presence);
  }
  // Operations a step: "2"; of one that comes once in several steps "1 in 19".
  static std::string rate(double per_step) {
    return per_step <= 0 || per_step >= 0.75 ? fmt::format("{:.3g}", per_step)
                                             : fmt::format("1 in {:.0f}", 1 / per_step);
  }
  static Line count_cell(const CollectiveDiff& part) {
    // Runs of other lengths have what comes once in them at other rates.
    const bool alike = std::abs(part.per_step_a - part.per_step_b) <
                       0.05 * std::max({part.per_step_a, part.per_step_b, 1.0});
    return pair_cell(rate(part.per_step_a), alike ? rate(part.per_step_a) : rate(part.per_step_b),
                     part.presence);
  }
  static Line presence_cell(Presence presence) {
    switch (presence) {
      case Presence::only_a:
        return Line{}.bold("gone");
      case Presence::only_b:
        return Line{}.bold("new");
      case Presence::both:
        break;
    }
    return {};
  }

  void print_collectives() {
    const auto& parts = diff_.collectives.parts;
    if (parts.empty()) return;
    const auto count = [&](Presence presence) {
      return std::ranges::count_if(parts,
                                   [&](const CollectiveDiff& part) { return part.presence == presence; });
    };
    std::string remark = "communication beside which nothing computes, a step and rank";
    if (const auto fresh = count(Presence::only_b), gone = count(Presence::only_a); fresh + gone > 0)
      remark += fmt::format("; {} new, {} gone", fresh, gone);
    heading("by collective", remark.c_str());
    Table table({{"collective", false, 0},
                 {"", false, 0},
                 {"group", false, 4},
                 {"size", true, 2},
                 {"a step", true, 3},
                 {"A", true, 0},
                 {"B", true, 0},
                 {"change", true, 0}});
    for (std::size_t i = 0; i < std::min(rows_, parts.size()); ++i)
      table.add_row({name(name_of(parts[i].key)), presence_cell(parts[i].presence),
                     Line{}.dim(fit(printable(parts[i].key.group), 16, ascii_)), size_cell(parts[i]),
                     count_cell(parts[i]), time(parts[i].time.a_ns), time(parts[i].time.b_ns),
                     change(parts[i].time.change_ns())});
    if (parts.size() > rows_) {
      TimePair others;
      for (std::size_t i = rows_; i < parts.size(); ++i) {
        others.a_ns += parts[i].time.a_ns;
        others.b_ns += parts[i].time.b_ns;
      }
      std::vector<Line> cells{Line{}.dim(fmt::format("{} more: --rows all", parts.size() - rows_))};
      cells.resize(5);
      for (Line cell : {time(others.a_ns), time(others.b_ns), change(others.change_ns())})
        cells.push_back(std::move(cell));
      table.add_row(std::move(cells));
    }
    add_end(table, rest_of_collectives(), diff_.collectives.rest, parts.size(), "exposed",
            diff_.collectives.whole, 4);
    table.print(page_, 2);
  }

  void print_layers() {
    const auto& parts = diff_.layers.parts;
    if (parts.empty()) return;
    heading("by layer", "compute of its passes, a step and rank");
    Table table({{"pass", false, 0}, {"", false, 0}, {"A", true, 0}, {"B", true, 0}, {"change", true, 0}});
    for (std::size_t i = 0; i < std::min(rows_, parts.size()); ++i)
      table.add_row({name(name_of(parts[i].key)), presence_cell(parts[i].presence), time(parts[i].time.a_ns),
                     time(parts[i].time.b_ns), change(parts[i].time.change_ns())});
    if (parts.size() > rows_) {
      TimePair others;
      for (std::size_t i = rows_; i < parts.size(); ++i) {
        others.a_ns += parts[i].time.a_ns;
        others.b_ns += parts[i].time.b_ns;
      }
      table.add_row({Line{}.dim(fmt::format("{} more: --rows all", parts.size() - rows_)), Line{},
                     time(others.a_ns), time(others.b_ns), change(others.change_ns())});
    }
    add_end(table, "of no layer", diff_.layers.rest, parts.size(), "compute", diff_.layers.whole, 1);
    table.print(page_, 2);
  }

  void print_phases() {
    if (diff_.phases.parts.empty()) return;
    heading("of the run", "wall time, the mean over ranks");
    Table table({{"phase", false, 0}, {"A", true, 0}, {"B", true, 0}, {"change", true, 0}});
    for (const PhaseDiff& phase : diff_.phases.parts)
      table.add_row({Line{}.text(title_of(phase.phase)), time(phase.time.a_ns), time(phase.time.b_ns),
                     change(phase.time.change_ns())});
    table.add_row({Line{}.bold("all"), time(diff_.phases.whole.a_ns), time(diff_.phases.whole.b_ns),
                   change(diff_.phases.whole.change_ns())});
    table.print(page_, 2);
  }

  void print_suspects(const std::vector<Suspect>& suspects) {
    heading("what else differs",
            suspects.empty() ? "nothing that these runs tell of" : "suspects, not causes");
    if (suspects.empty()) return;
    Table table({{"", false, 0}, {"A", false, 0}, {"B", false, 0}});
    const auto value = [&](const std::string& text) {
      return text.empty() ? Line{}.dim(kAbsent) : Line{}.text(fit(printable(text), kValueWidth, ascii_));
    };
    for (const Suspect& suspect : suspects)
      table.add_row({name(suspect.name), value(suspect.a), value(suspect.b)});
    table.print(page_, 2);
  }

  void print_side(const char* title, const DiffSide& side) {
    page_.wrap(Line{}.dim(fmt::format("{}: {}; {}, {}", title, printable(join_words(side.paths, ", ")),
                                      format_plural(side.world_size, "rank"),
                                      format_plural(side.steps, "steady step"))),
               0, 3);
  }

  const RunsDiff& diff_;
  Page page_;
  std::size_t rows_;
  bool ascii_;
};

}  // namespace

std::string to_text(const RunsDiff& diff, const std::vector<Suspect>& suspects,
                    const DiffTextOptions& options) {
  return Text(diff, options).write(suspects);
}

}  // namespace lockstep::analyzer
