#include "analyzer/diagnose/hang_circle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/diagnose/hang_places.h"
#include "analyzer/diagnose/hang_words.h"

namespace lockstep::analyzer::hang {
namespace {

const HungRank* waiting_in(const Job& job, const HungOperation& hung, std::int32_t rank) {
  const auto found = std::find_if(hung.waiting.begin(), hung.waiting.end(), [&](const HungRank& one) {
    return job.ranks[one.rank].rank == rank && !one.gave_up && !one.behind;
  });
  return found == hung.waiting.end() ? nullptr : &*found;
}

// The first operation that the rank waits in; the end where it waits in none.
HungOperations::const_iterator first_wait_of(const Job& job, const HungOperations& hung, std::int32_t rank) {
  for (const HungOperations::const_iterator& at : in_order_of_time(hung))
    if (waiting_in(job, at->second, rank) != nullptr) return at;
  return hung.end();
}

std::string what_it_is_in(const Job& job, const HungOperations& hung, const CircleMember& member) {
  const HungRank* const one = waiting_in(job, hung.at(member.key), member.rank);
  return one == nullptr ? "" : describe_waits(job, member.key, {*one});
}

}  // namespace

std::vector<CircleMember> circle_from(const Job& job, const HungOperations& hung, const OperationKey& key) {
  std::vector<CircleMember> circle;
  auto at = hung.find(key);
  if (at == hung.end() || at->second.missing.size() != 1) return {};
  // Whom the last one waits for has to be in the first operation: nobody else's waiting closes the circle.
  std::int32_t next = at->second.missing.front();
  while (circle.size() < job.ranks.size()) {
    if (waiting_in(job, hung.at(key), next) != nullptr) {
      circle.insert(circle.begin(), {next, key});
      return circle;
    }
    const bool again = std::any_of(circle.begin(), circle.end(),
                                   [&](const CircleMember& member) { return member.rank == next; });
    at = again ? hung.end() : first_wait_of(job, hung, next);
    if (at == hung.end() || at->second.missing.size() != 1) return {};
    circle.push_back({next, at->first});
    next = at->second.missing.front();
  }
  return {};
}

std::string describe_circle(const Job& job, const HungOperations& hung,
                            const std::vector<CircleMember>& circle) {
  std::vector<std::int32_t> ranks;
  std::vector<std::string> waits;
  for (const CircleMember& member : circle) {
    ranks.push_back(member.rank);
    if (waits.size() < kMaxNamed) waits.push_back(what_it_is_in(job, hung, member));
  }
  std::sort(ranks.begin(), ranks.end());
  return fmt::format("{} wait for each other: {}{}", named(ranks), fmt::join(waits, "; "),
                     circle.size() > kMaxNamed ? "; …" : "");
}

std::string remedy_of_circle(const std::vector<CircleMember>& circle) {
  const auto messages = std::count_if(circle.begin(), circle.end(),
                                      [](const CircleMember& member) { return member.key.is_message(); });
  if (messages > 0 && messages < std::ssize(circle))
    return "one waits for a message, another for a collective: look for a send or a receive without a "
           "partner, and for a branch that one of them takes alone";
  if (messages > 0)
    return "let every second rank send before it receives, or post both at once (`batch_isend_irecv`, "
           "isend and irecv) and wait for them then";
  return "ranks have to issue the collectives that they share in the same order, those of different "
         "groups too: look for a branch that one of them takes alone";
}

}  // namespace lockstep::analyzer::hang
