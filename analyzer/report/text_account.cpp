#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/start_up_in_steps.h"
#include "analyzer/report/text_sections.h"

namespace lockstep::analyzer {
namespace {

// Of the rank that did most; "" where none did.
std::string saved_beside(const AccountReport& account) {
  const auto most = std::ranges::max_element(account.ranks, {}, &RankAccount::checkpoint_beside_ns);
  if (most == account.ranks.end() || most->checkpoint_beside_ns <= 0) return "";
  return fmt::format(
      "Checkpoints were written for {} beside all this, on the rank that did most{}.",
      format_duration(most->checkpoint_beside_ns),
      most->spent[Spending::after_failure] > 0 ? ", before it hung or waited for the job's end" : "");
}

std::string steps_text(const StepsLeftOut& steps, bool ascii) {
  if (steps.first == steps.last) return fmt::format("step {}", steps.first);
  return fmt::format("steps {}{}{}", steps.first, ascii ? "-" : "–", steps.last);
}

// The account has means over the ranks and counts what else is done in a step apart: of the same steps a
// reader finds two times.
std::string how_steps_are_counted(const Report& report) {
  std::vector<std::string_view> apart;
  for (const Spending spending :
       {Spending::start_up, Spending::compilation, Spending::checkpoint, Spending::evaluation})
    if (report.account.spent[spending] > 0) apart.emplace_back(title_of(spending));
  const bool several = report.account.ranks.size() > 1;
  if (apart.empty() && !several) return "";
  return fmt::format(" These are lengths of whole steps{}{}.",
                     several ? ", on the rank on which they lasted longest" : "",
                     apart.empty() ? ""
                                   : fmt::format("; {} within them {} counted as such above",
                                                 fmt::join(apart, ", "), apart.size() == 1 ? "is" : "are"));
}

// A parameter server steps for its workers, an actor's learner for the actors: what these do is not idle.
std::string time_without_steps(const AccountReport& account) {
  std::vector<std::int32_t> ranks;
  std::int64_t other_ns = 0;
  for (const RankAccount& rank : account.ranks) {
    if (rank.spent[Spending::steady] > 0 || rank.spent[Spending::warm_up] > 0) continue;
    ranks.push_back(rank.rank);
    other_ns += rank.spent[Spending::other];
  }
  if (ranks.empty() || other_ns == 0) return "";
  return fmt::format(" What {} {}, without steps of {} own, is other: {}.", name_ranks(ranks),
                     ranks.size() == 1 ? "does" : "do", ranks.size() == 1 ? "its" : "their",
                     format_duration(other_ns));
}

// Where nobody can tell which steps are steady training, or that any are.
std::string doubt_of_steady(const Report& report) {
  for (const Warning& warning : report.warnings) {
    if (warning.code == "no_steady_steps") {
      const std::int64_t start_up = start_up_in_steps_ns(report);
      return fmt::format(
          "Which steps are steady training can't be told of so few: all are counted as such{}.",
          start_up == 0 ? ""
                        : fmt::format(", and below start-up within them is counted, too ({}{})",
                                      format_duration(start_up),
                                      report.account.ranks.size() > 1 ? ", mean of the ranks" : ""));
    }
    if (warning.code == "steps_drift")
      return "The steps do not settle (below): none of these figures need hold for a longer run.";
  }
  return "";
}

}  // namespace

std::vector<std::string> account_lines(const Report& report) {
  const AccountReport& account = report.account;
  std::vector<std::string> lines;
  if (account.wall_ns <= 0 || account.ranks.empty()) return lines;
  const auto ranks = static_cast<std::int64_t>(report.ranks_present.size());
  const std::int64_t all = account.spent.total();
  std::vector<std::string> parts;
  for (const Spending spending : kSpendingsByLife) {
    const std::int64_t ns = account.spent[spending];
    if (ns == 0) continue;
    const auto mean = static_cast<std::int64_t>(static_cast<double>(ns) / static_cast<double>(all) *
                                                static_cast<double>(account.wall_ns));
    // A nanosecond of one of several ranks is "0" and "< 0.1 %".
    if (mean == 0) continue;
    parts.push_back(
        fmt::format("{} {} ({})", title_of(spending), format_duration(mean), format_share(ns, all)));
  }
  // A launcher's own time, before the first rank began and after the last one ended, is none of it.
  const std::string all_time = format_duration(account.wall_ns);
  lines.push_back(
      ranks > 1 ? fmt::format("{} from the first rank's start to the last one's end; mean of the ranks: {}.",
                              all_time, fmt::join(parts, ", "))
                : fmt::format("{} from the rank's start to its end: {}.", all_time, fmt::join(parts, ", ")));
  if (account.goodput)
    lines.push_back(fmt::format(
        "Goodput {}: the share of steady steps in all time{}.{}", format_share(*account.goodput),
        account.spent[Spending::not_recorded] > 0 ? " that was recorded" : "", time_without_steps(account)));
  if (const auto& late = account.late_start)
    lines.push_back(fmt::format("In start-up {} waited {} for rank {}: {}.",
                                ranks > 2 ? "the others (their mean)" : "the other rank",
                                format_duration(late->waited_ns), late->rank,
                                cores_are_few(report) ? "it may have waited for a core (below)"
                                                      : "look at what it does until its first step"));
  if (std::string doubt = doubt_of_steady(report); !doubt.empty()) lines.push_back(std::move(doubt));
  if (std::string saved = saved_beside(account); !saved.empty()) lines.push_back(std::move(saved));
  return lines;
}

std::string steady_line(const Report& report, bool ascii) {
  if (!report.steady) return "";
  const SteadyReport& steady = *report.steady;
  if (steady.left_out.empty()) return "";
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  for (const StepsLeftOut& steps : steady.left_out) {
    if (parts.size() == kMost && steady.left_out.size() > kMost + 1) {
      parts.push_back(fmt::format("and {} more", steady.left_out.size() - kMost));
      break;
    }
    parts.push_back(
        fmt::format("{}: {}, {}", steps_text(steps, ascii), steps.reason, format_duration(steps.ns)));
  }
  return fmt::format("All below is over {}. Left out, unless --all-steps is given: {}.{}",
                     format_plural(static_cast<std::int64_t>(steady.steps.size()), "steady step"),
                     fmt::join(parts, "; "), how_steps_are_counted(report));
}

namespace {

void print_account(const Report& report, const TextOptions& /*options*/, Page& page) {
  const std::vector<std::string> lines = account_lines(report);
  const std::string steady = steady_line(report, page.options().ascii);
  if (lines.empty() && steady.empty()) return;
  print_heading(page, sections::account.title);
  for (const std::string& line : lines) page.wrap(Line{}.text(line), 2, 2);
  if (!steady.empty()) page.wrap(Line{}.text(steady), 2, 2);
}

constexpr auto kTextAccountMembers = std::to_array<std::string_view>({"account", "steady"});

}  // namespace

constinit const ReportSection sections::account{
    .id = "account",
    .title = "where the wall time went",
    .on_page = "account",
    .json = kTextAccountMembers,
    .print = print_account,
};

}  // namespace lockstep::analyzer
