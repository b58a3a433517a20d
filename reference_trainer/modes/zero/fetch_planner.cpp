#include "reference_trainer/modes/zero/fetch_planner.h"

#include <algorithm>

namespace lockstep::trainer {

FetchPlanner::FetchPlanner(const std::vector<std::vector<std::int64_t>>& elements, const FetchLimits& limits)
    : limits_(limits) {
  for (std::size_t part = 0; part < elements.size(); ++part) {
    part_begins_.push_back(parameters_.size());
    for (const std::int64_t size : elements[part])
      parameters_.push_back({.part = static_cast<int>(part),
                             .elements = size,
                             .persistent = size < limits.persistence_threshold});
  }
  part_begins_.push_back(parameters_.size());
}

void FetchPlanner::begin_pass() {
  ++passes_;
  if (!complete()) visits_.clear();
  visit_ = -1;
  for (Parameter& parameter : parameters_) parameter.handled_until = -1;
  queue_.clear();
  if (!complete()) return;
  for (std::size_t visit = 0; visit < visits_.size(); ++visit)
    for (std::size_t i = first_of(visits_[visit]); i < end_of(visits_[visit]); ++i)
      queue_.push_back({i, static_cast<int>(visit)});
}

void FetchPlanner::add(std::size_t parameter) {
  parameters_[parameter].there = true;
  if (!parameters_[parameter].persistent) live_ += parameters_[parameter].elements;
}

std::vector<std::size_t> FetchPlanner::fetch(int part) {
  ++visit_;
  if (!complete()) visits_.push_back(part);
  std::vector<std::size_t> missing;
  for (std::size_t i = first_of(part); i < end_of(part); ++i) {
    if (parameters_[i].there) continue;
    missing.push_back(i);
    add(i);
  }
  // Uses that prefetches have not come to yet stand at the head of the queue.
  while (!queue_.empty() && queue_.front().visit <= visit_) {
    parameters_[queue_.front().parameter].handled_until = visit_;
    queue_.pop_front();
  }
  return missing;
}

std::int64_t FetchPlanner::persistent_elements() const {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters_) sum += parameter.persistent ? parameter.elements : 0;
  return sum;
}

std::vector<std::size_t> FetchPlanner::prefetch() {
  const std::int64_t room = std::min(limits_.max_live - live_, limits_.prefetch_bucket);
  std::vector<std::size_t> chosen;
  for (std::int64_t sum = 0; !queue_.empty() && sum < room; queue_.pop_front()) {
    const auto [index, visit] = queue_.front();
    Parameter& parameter = parameters_[index];
    parameter.handled_until = std::max(parameter.handled_until, visit);
    if (parameter.there) continue;
    chosen.push_back(index);
    add(index);
    sum += parameter.elements;
  }
  return chosen;
}

// Whether a visit within the reuse distance is one of this part: the distance counts whole visits, the one
// that crosses it too.
bool FetchPlanner::reused_soon(int part) const {
  std::int64_t distance = 0;
  for (auto visit = static_cast<std::size_t>(visit_ + 1); visit < visits_.size(); ++visit) {
    if (distance >= limits_.max_reuse_distance) return false;
    if (visits_[visit] == part) return true;
    for (std::size_t i = first_of(visits_[visit]); i < end_of(visits_[visit]); ++i)
      distance += parameters_[i].elements;
  }
  return false;
}

std::vector<std::size_t> FetchPlanner::release(int part) {
  std::vector<std::size_t> released;
  if (complete() && reused_soon(part)) return released;
  for (std::size_t i = first_of(part); i < end_of(part); ++i) {
    Parameter& parameter = parameters_[i];
    // A prefetch has passed over its next use because it was there: nobody would fetch it ahead again.
    if (parameter.persistent || parameter.handled_until > visit_) continue;
    parameter.there = false;
    live_ -= parameter.elements;
    released.push_back(i);
  }
  return released;
}

std::vector<std::size_t> FetchPlanner::drop_all() {
  std::vector<std::size_t> dropped;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].there) continue;
    parameters_[i].there = false;
    dropped.push_back(i);
  }
  live_ = 0;
  return dropped;
}

std::vector<std::size_t> FetchPlanner::fetch_persistent() {
  std::vector<std::size_t> persistent;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].persistent || parameters_[i].there) continue;
    parameters_[i].there = true;
    persistent.push_back(i);
  }
  return persistent;
}

}  // namespace lockstep::trainer
