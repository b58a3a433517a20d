#include "analyzer/report/run_account.h"

#include <numeric>

#include "base/time_math.h"

namespace lockstep::analyzer {
namespace {

struct SpendingNames {
  const char *key, *title;
};
constexpr std::array<SpendingNames, kSpendingCount> kSpendings{
    {{"not_recorded", "not recorded"},
     {"compilation", "compilation"},
     {"checkpoint", "checkpoint"},
     {"evaluation", "evaluation"},
     {"after_failure", "hung or waiting until the job ended"},
     {"start_up", "start-up"},
     {"warm_up", "warm-up steps"},
     {"steady", "steady steps"},
     {"shutdown", "shutdown"},
     {"other", "other"}}};

}  // namespace

const char* to_string(Spending spending) {
  return kSpendings[static_cast<std::size_t>(spending)].key;
}

const char* title_of(Spending spending) {
  return kSpendings[static_cast<std::size_t>(spending)].title;
}

std::int64_t Account::total() const {
  return std::accumulate(ns.begin(), ns.end(), std::int64_t{0}, saturating_add);
}

std::int64_t Account::recorded() const {
  return total() - (*this)[Spending::not_recorded];
}

std::int64_t AccountReport::recorded_ns() const {
  return spent.recorded();
}

std::int64_t AccountReport::training_ns() const {
  return recorded_ns() - spent[Spending::start_up] - spent[Spending::shutdown];
}

}  // namespace lockstep::analyzer
