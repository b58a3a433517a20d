#include "analyzer/comparison/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace lockstep::analyzer {

std::vector<double> holm(std::span<const WeightedChance> figures) {
  std::vector<std::size_t> order(figures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return figures[a].chance / figures[a].weight < figures[b].chance / figures[b].weight;
  });
  double remaining = 0;
  for (const WeightedChance& figure : figures) remaining += figure.weight;
  std::vector<double> adjusted(figures.size(), 1);
  double highest = 0;
  for (const std::size_t at : order) {
    highest = std::max(highest, figures[at].chance * remaining / figures[at].weight);
    adjusted[at] = std::min(1.0, highest);
    remaining -= figures[at].weight;
  }
  return adjusted;
}

}  // namespace lockstep::analyzer
