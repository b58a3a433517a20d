#include "analyzer/report/json_account.h"

#include "analyzer/report/json_measures.h"

namespace lockstep::analyzer {
namespace {

using Json = nlohmann::ordered_json;

Json spent_to_json(const Account& spent) {
  Json object;
  for (std::size_t i = 0; i < kSpendingCount; ++i) object[to_string(static_cast<Spending>(i))] = spent.ns[i];
  return object;
}

}  // namespace

Json account_to_json(const AccountReport& account) {
  if (account.ranks.empty()) return nullptr;
  Json object;
  object["begin_ns"] = account.begin_ns;
  object["wall_ns"] = account.wall_ns;
  object["goodput"] = optional(account.goodput);
  object["late_start"] = account.late_start ? Json{{"rank", account.late_start->rank},
                                                   {"waited_ns", account.late_start->waited_ns}}
                                            : Json(nullptr);
  object["spent_ns"] = spent_to_json(account.spent);
  Json ranks = Json::array();
  for (const RankAccount& rank : account.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"spent_ns", spent_to_json(rank.spent)},
                     {"checkpoint_beside_ns", rank.checkpoint_beside_ns}});
  object["ranks"] = std::move(ranks);
  return object;
}

Json steady_to_json(const std::optional<SteadyReport>& steady) {
  if (!steady) return nullptr;
  Json object;
  object["steps"] = steady->steps;
  Json left_out = Json::array();
  for (const StepsLeftOut& steps : steady->left_out)
    left_out.push_back({{"first", steps.first},
                        {"last", steps.last},
                        {"reason", steps.reason},
                        {"window_ns", steps.ns},
                        {"reason_ns", steps.reason_ns},
                        {"rank", optional(steps.rank)}});
  object["left_out"] = std::move(left_out);
  return object;
}

}  // namespace lockstep::analyzer
