#include "tests/accuracy/cells.h"

#include <algorithm>
#include <utility>

namespace lockstep::accuracy {
namespace {

// Where faults are planted, so many steps take two ranks alone: of more ranks the curves of 200 say as much.
constexpr int kLong = 1000;

std::int64_t jobs_of(const CellChoice& choice, std::int64_t activities) {
  if (choice.jobs > 0) return choice.jobs;
  if (choice.full) return choice.what == "null" ? 500 : 100;
  constexpr std::int64_t kCheap = 100'000;
  if (choice.what == "null") return activities <= kCheap ? 100 : activities <= 10 * kCheap ? 20 : 0;
  return 20;
}

template <class Value>
std::vector<Value> chosen_or(const std::vector<Value>& chosen, std::vector<Value> all) {
  return chosen.empty() ? std::move(all) : chosen;
}

std::vector<Fault> faults_of(const CellChoice& choice) {
  if (choice.what == "null") return {Fault::none};
  std::vector<Fault> faults;
  for (int i = 1; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (choice.faults.empty() ||
        std::find(choice.faults.begin(), choice.faults.end(), to_string(fault)) != choice.faults.end())
      faults.push_back(fault);
  }
  return faults;
}

// What the table has, of which a choice takes a part.
CellChoice whole_table(bool null, bool full) {
  CellChoice table;
  if (null) {
    table.ranks = {2, 4, 8, 64, 512};
    table.steps = {20, 50, 200, 1000};
    table.effects = table.levels = {0};
  } else if (full) {
    table.ranks = {2, 8, 64};
    table.steps = {50, 200, kLong};
    table.effects = {0.01, 0.02, 0.03, 0.05, 0.10, 0.20};
    table.levels = {0.01, 0.02, 0.05, 0.10, 0};
  } else {
    table.ranks = {2, 8};
    table.steps = {50, 200};
    table.effects = {0.02, 0.05, 0.20};
    table.levels = {0.02, 0};
  }
  return table;
}

}  // namespace

std::vector<Cell> cells_of(const CellChoice& choice) {
  const bool null = choice.what == "null";
  const CellChoice table = whole_table(null, choice.full);
  std::vector<Cell> cells;
  for (const Fault fault : faults_of(choice))
    for (const double level : chosen_or(choice.levels, table.levels))
      for (const double effect : chosen_or(choice.effects, table.effects))
        for (const std::int32_t ranks : chosen_or(choice.ranks, table.ranks))
          for (const int steps : chosen_or(choice.steps, table.steps)) {
            const bool asked_for = !choice.steps.empty() && !choice.ranks.empty();
            if (!null && steps == kLong && ranks > 2 && !asked_for) continue;
            const std::int64_t jobs = jobs_of(choice, std::int64_t{8} * ranks * steps);
            if (jobs > 0) cells.push_back({ranks, steps, fault, effect, level, jobs, !choice.as_drawn});
          }
  return cells;
}

}  // namespace lockstep::accuracy
