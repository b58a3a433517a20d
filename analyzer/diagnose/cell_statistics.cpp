#include "analyzer/diagnose/cell_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyzer/intervals/median.h"

namespace lockstep::analyzer {
namespace {

// NaN of none. The lower median: it is one of the values.
double median_of_known(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  return values.empty() ? kUnknownAmount : lower_median(std::move(values));
}

double pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, products = 0, squares_x = 0, squares_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - mean_x) * (y[i] - mean_y);
    squares_x += (x[i] - mean_x) * (x[i] - mean_x);
    squares_y += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return squares_x > 0 && squares_y > 0 ? products / std::sqrt(squares_x * squares_y) : 0;
}

// Of each value its place among all, from 0; equal ones share the middle of theirs.
std::vector<double> places(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> places(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) places[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return places;
}

}  // namespace

std::vector<double> deviations_in_turn(const StepTable& table, const std::vector<double>& values) {
  std::vector<double> deviations = values;
  const std::size_t ranks = table.rank_count(), steps = table.steps.size();
  // Takes from `count` values, `stride` apart, their median.
  const auto center = [&](std::size_t first, std::size_t count, std::size_t stride) {
    std::vector<double> part(count);
    for (std::size_t i = 0; i < count; ++i) part[i] = deviations[first + i * stride];
    const double median = median_of_known(std::move(part));
    for (std::size_t i = 0; i < count; ++i) deviations[first + i * stride] -= median;
  };
  for (std::size_t step = 0; step < steps; ++step) center(step * ranks, ranks, 1);
  for (std::size_t rank = 0; rank < ranks; ++rank) center(rank, steps, ranks);
  return deviations;
}

Correlation correlation_in_turn(const StepTable& table, const std::vector<double>& a,
                                const std::vector<double>& b) {
  const std::vector<double> all_x = deviations_in_turn(table, a), all_y = deviations_in_turn(table, b);
  std::vector<double> x, y;
  for (std::size_t i = 0; i < all_x.size(); ++i) {
    if (std::isnan(all_x[i]) || std::isnan(all_y[i])) continue;
    x.push_back(all_x[i]);
    y.push_back(all_y[i]);
  }
  return {pearson(x, y), pearson(places(x), places(y))};
}

double median_of_others(const std::vector<double>& values, std::size_t own) {
  std::vector<double> others;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i != own && !std::isnan(values[i])) others.push_back(values[i]);
  if (others.empty()) return kUnknownAmount;
  const auto upper = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), upper, others.end());
  if (others.size() % 2 == 1) return *upper;
  return (*upper + *std::max_element(others.begin(), upper)) / 2;
}

std::optional<double> amount_beside_others(const StepTable& table, const std::vector<double>& amount,
                                           std::size_t rank) {
  const std::size_t ranks = table.rank_count();
  std::vector<double> means(ranks), counts(ranks);
  for (std::size_t cell = 0; cell < amount.size(); ++cell) {
    if (std::isnan(amount[cell])) continue;
    means[cell % ranks] += amount[cell];
    ++counts[cell % ranks];
  }
  for (std::size_t one = 0; one < ranks; ++one)
    means[one] =
        2 * counts[one] < static_cast<double>(table.steps.size()) ? kUnknownAmount : means[one] / counts[one];
  const double others = median_of_others(means, rank);
  if (std::isnan(means[rank]) || std::isnan(others) || others <= 0) return std::nullopt;
  return means[rank] / others;
}

}  // namespace lockstep::analyzer
