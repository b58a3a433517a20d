#include "tests/accuracy/verdict.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace lockstep::accuracy {
namespace {

// The rank that a finding is about, by its own word or its title's ("rank 3").
std::optional<std::int32_t> rank_of(const analyzer::Finding& finding) {
  if (finding.rank) return finding.rank;
  const std::size_t at = finding.title.find("rank ");
  if (at == std::string::npos || at + 5 >= finding.title.size() ||
      std::isdigit(static_cast<unsigned char>(finding.title[at + 5])) == 0)
    return std::nullopt;
  return std::stoi(finding.title.substr(at + 5));
}

// Whether a title names the cause: one of these words stands in it.
bool names(const std::string& title, Fault fault) {
  struct Words {
    Fault fault;
    std::string_view word;
  };
  constexpr std::array kWords{
      Words{Fault::compute, "compute"},   Words{Fault::growing, "compute"},
      Words{Fault::periodic, "every 10"}, Words{Fault::periodic, "once in 10"},
      Words{Fault::loader, "load"},       Words{Fault::host, "host"},
      Words{Fault::host, "launch"},       Words{Fault::link, "link"},
      Words{Fault::link, "transfer"},     Words{Fault::changing, "turn"},
      Words{Fault::midway, "from step"},
  };
  return std::any_of(kWords.begin(), kWords.end(), [&](const Words& words) {
    return words.fault == fault && title.find(words.word) != std::string::npos;
  });
}

}  // namespace

bool accuses(const analyzer::Finding& finding) {
  return finding.accuses == analyzer::Accused::rank || finding.accuses == analyzer::Accused::link;
}

Verdict judge(const analyzer::Report& report, Fault fault, std::int32_t slow_rank) {
  Verdict verdict;
  for (const analyzer::Finding& finding : report.findings) {
    verdict.codes.push_back(finding.code);
    if (fault == Fault::changing && !accuses(finding) && finding.cause == analyzer::Cause::barrier_wait) {
      verdict.found = true;
      verdict.cause_named = verdict.cause_named || names(finding.title, fault);
    }
    if (!accuses(finding)) continue;
    verdict.accusations.push_back(finding.code + ": " + finding.title);
    const bool right = fault != Fault::none && fault != Fault::changing && rank_of(finding) == slow_rank;
    if (!right) {
      ++verdict.wrongly_accused;
      continue;
    }
    verdict.found = true;
    verdict.cause_named = verdict.cause_named || names(finding.title, fault);
  }
  if (fault == Fault::changing && verdict.wrongly_accused > 0) verdict.found = verdict.cause_named = false;
  return verdict;
}

}  // namespace lockstep::accuracy
