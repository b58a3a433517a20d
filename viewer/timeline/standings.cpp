#include "viewer/timeline/standings.h"

#include <algorithm>
#include <string_view>

#include "analyzer/model/warns_of.h"
#include "analyzer/report/unicode.h"
#include "base/words.h"
#include "viewer/timeline/code_spans.h"

namespace lockstep::viewer {

namespace {

// What is said of one rank: causes before what it waits in itself, each once.
struct Said {
  bool stuck = false;
  std::vector<std::string> causes, waits, unknown, elsewhere;
};

void add_once(std::vector<std::string>& all, std::string text) {
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
}

// Operations and groups are named by the program: by anything, and at any length.
std::string shown(const std::string& text) {
  constexpr std::size_t kMost = 400;
  return analyzer::fit(quote_code(analyzer::printable(std::string_view(text).substr(0, 4 * kMost))), kMost);
}

void say(const analyzer::Finding& finding, const analyzer::Standing& standing, const std::string& operation,
         Said& said) {
  if (standing.elsewhere) {
    add_once(said.elsewhere, standing.where);
  } else if (standing.waits) {
    add_once(said.waits, standing.where);
  } else if (!standing.known) {
    add_once(said.unknown, (operation.empty() ? "whether it came cannot be told"
                                              : "whether it came to " + operation + " cannot be told") +
                               (": " + standing.where));
  } else if (finding.alarm == analyzer::Alarm::device) {
    said.stuck = true;
    add_once(said.causes, "its device stands still: " + standing.where);
  } else {
    add_once(said.causes,
             "never came" + (operation.empty() ? "" : " to " + operation) + ": " + standing.where);
  }
}

}  // namespace

std::vector<RankStanding> rank_standings(const analyzer::Report& report,
                                         std::span<const std::int32_t> ranks) {
  std::vector<Said> said(ranks.size());
  for (const analyzer::Finding& finding : report.findings) {
    // The first operation that some wait in is the one that the finding is about.
    const auto waited_in = std::find_if(finding.standings.begin(), finding.standings.end(),
                                        [](const analyzer::Standing& standing) { return standing.waits; });
    const std::string operation = waited_in == finding.standings.end() ? std::string() : waited_in->where;
    for (const analyzer::Standing& standing : finding.standings) {
      for (const std::int32_t rank : standing.ranks) {
        const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
        if (at != ranks.end() && *at == rank)
          say(finding, standing, operation, said[static_cast<std::size_t>(at - ranks.begin())]);
      }
    }
  }
  // A hang's findings place every rank that waits in anything that hung.
  const bool hung = std::any_of(
      report.findings.begin(), report.findings.end(),
      [](const analyzer::Finding& f) { return f.alarm == analyzer::Alarm::hang && !f.standings.empty(); });
  const std::string unnamed = hung ? "in none of the operations that hung" : "the findings do not name it";
  std::vector<RankStanding> standings(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankStanding& standing = standings[i];
    standing.culprit = !said[i].causes.empty();
    if (said[i].stuck)
      standing.brief = "device stands still";
    else if (standing.culprit)
      standing.brief = "never came";
    else if (!said[i].waits.empty())
      standing.brief = "waits";
    std::vector<std::string> parts = said[i].causes;
    if (!said[i].waits.empty()) parts.push_back("waits in " + join_words(said[i].waits, ", and in "));
    parts.insert(parts.end(), said[i].unknown.begin(), said[i].unknown.end());
    if (parts.empty() && !said[i].elsewhere.empty())
      parts.push_back(unnamed + ": " + join_words(said[i].elsewhere, "; "));
    standing.text = parts.empty() ? unnamed : shown(join_words(parts, "  ·  "));
  }
  return standings;
}

bool holds_order_alone(const analyzer::Report& report) {
  return analyzer::warns_of(report.warnings, "order_only");
}

}  // namespace lockstep::viewer
