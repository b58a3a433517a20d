#include "analyzer/steps/repetition.h"

#include <algorithm>
#include <unordered_map>

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxCandidates = 24;
// Elements that occur equally often are mostly of one stretch: not all of them need be tried.
constexpr std::size_t kOfACount = 3;
constexpr double kAlike = 0.8;
constexpr double kCovered = 0.8;

// Numbers next to each other must not cancel out in a sum.
std::uint64_t scramble(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

struct Element {
  std::size_t count = 0, first = 0;
  std::uint64_t value = 0;
};
using Elements = std::unordered_map<std::uint64_t, Element>;

struct Stretches {
  std::vector<std::size_t> begins;
  std::vector<std::uint64_t> contents;  // a hash of each one's multiset; the last is what lies behind
};

Stretches divide_at(std::uint64_t element, std::span<const std::uint64_t> sequence) {
  Stretches stretches;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i] == element) {
      stretches.begins.push_back(i);
      stretches.contents.push_back(0);
    }
    if (!stretches.contents.empty()) stretches.contents.back() += scramble(sequence[i]);
  }
  return stretches;
}

// Of all stretches but the last, which may be cut.
std::uint64_t most_common(const std::vector<std::uint64_t>& contents) {
  std::vector<std::uint64_t> sorted(contents.begin(), contents.end() - 1);
  std::sort(sorted.begin(), sorted.end());
  std::size_t most = 0;
  std::uint64_t result = 0;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    if (end - begin > most) {
      most = end - begin;
      result = sorted[begin];
    }
  }
  return result;
}

std::optional<Repetition> repetition_at(std::uint64_t element, std::span<const std::uint64_t> sequence) {
  const Stretches stretches = divide_at(element, sequence);
  const std::size_t count = stretches.begins.size();
  const std::uint64_t usual = most_common(stretches.contents);
  const auto length = [&](std::size_t i) {
    return (i + 1 < count ? stretches.begins[i + 1] : sequence.size()) - stretches.begins[i];
  };
  std::size_t alike = 0, covered = 0, shortest = sequence.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (stretches.contents[i] != usual) continue;
    ++alike;
    covered += length(i);
    shortest = std::min(shortest, length(i));
  }
  const bool last_counts = stretches.contents.back() == usual;
  const std::size_t whole = count - (last_counts ? 0 : 1);
  if (shortest < 2 || whole < kLeastRepetitions) return std::nullopt;
  if (static_cast<double>(alike) < kAlike * static_cast<double>(whole)) return std::nullopt;
  if (static_cast<double>(covered) < kCovered * static_cast<double>(sequence.size())) return std::nullopt;
  Repetition found;
  found.begins.assign(stretches.begins.begin(),
                      stretches.begins.begin() + static_cast<std::ptrdiff_t>(whole));
  found.end = last_counts ? sequence.size() : stretches.begins.back();
  return found;
}

// A step is said to begin with what came first of all that is once in it: the rarest element may be rare
// because the last step was cut.
Repetition from_its_begin(const Repetition& found, const Elements& elements,
                          std::span<const std::uint64_t> sequence) {
  std::unordered_map<std::uint64_t, std::size_t> in_one;
  const std::size_t middle = found.begins.size() / 2;
  const std::size_t end = middle + 1 < found.begins.size() ? found.begins[middle + 1] : found.end;
  for (std::size_t i = found.begins[middle]; i < end; ++i) ++in_one[sequence[i]];
  const Element* begin = nullptr;
  for (const auto& [value, count] : in_one) {
    const Element& element = elements.at(value);
    if (count == 1 && (begin == nullptr || element.first < begin->first)) begin = &element;
  }
  if (begin == nullptr) return found;
  std::optional<Repetition> better = repetition_at(begin->value, sequence);
  return better && better->begins.size() >= found.begins.size() ? *better : found;
}

}  // namespace

std::optional<Repetition> find_repetition(std::span<const std::uint64_t> sequence) {
  Elements elements;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto [where, fresh] = elements.try_emplace(sequence[i]);
    if (fresh) where->second = {0, i, sequence[i]};
    ++where->second.count;
  }
  std::vector<Element> candidates;
  for (const auto& [value, element] : elements)
    if (element.count >= kLeastRepetitions && element.count <= sequence.size() / 2)
      candidates.push_back(element);
  std::sort(candidates.begin(), candidates.end(), [](const Element& a, const Element& b) {
    return a.count != b.count ? a.count < b.count : a.first < b.first;
  });
  std::size_t tried = 0, of_count = 0;
  for (std::size_t i = 0; i < candidates.size() && tried < kMaxCandidates; ++i) {
    of_count = i > 0 && candidates[i].count == candidates[i - 1].count ? of_count + 1 : 0;
    if (of_count >= kOfACount) continue;
    ++tried;
    if (const std::optional<Repetition> found = repetition_at(candidates[i].value, sequence))
      return from_its_begin(*found, elements, sequence);
  }
  return std::nullopt;
}

}  // namespace lockstep::analyzer
