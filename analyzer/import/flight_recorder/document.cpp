#include "analyzer/import/flight_recorder/document.h"

#include <cmath>

namespace lockstep::analyzer::flight_recorder {
namespace {

// A record has some twenty fields. One that has thousands would cost their number with every look.
constexpr std::size_t kMaxFields = 256;

}  // namespace

Document::Id Document::add(Kind kind, std::int64_t number, double real) {
  values_.push_back({kind, number, real});
  return static_cast<Id>(values_.size() - 1);
}

Document::Id Document::add_boolean(bool value) {
  return add(Kind::boolean, value ? 1 : 0);
}

Document::Id Document::add_integer(std::int64_t value) {
  return add(Kind::integer, value);
}

Document::Id Document::add_real(double value) {
  return add(Kind::real, 0, value);
}

Document::Id Document::add_text(std::string_view text) {
  texts_.emplace_back(text);
  return add(Kind::text, static_cast<std::int64_t>(texts_.size() - 1));
}

Document::Id Document::add_list() {
  containers_.emplace_back();
  return add(Kind::list, static_cast<std::int64_t>(containers_.size() - 1));
}

Document::Id Document::add_dictionary() {
  containers_.emplace_back();
  return add(Kind::dictionary, static_cast<std::int64_t>(containers_.size() - 1));
}

void Document::append(Id list, Id value) {
  if (kind(list) == Kind::list) containers_[static_cast<std::size_t>(values_[list].number)].push_back(value);
}

void Document::set(Id dictionary, Id key, Id value) {
  if (kind(dictionary) != Kind::dictionary) return;
  std::vector<Id>& entries = containers_[static_cast<std::size_t>(values_[dictionary].number)];
  entries.push_back(key);
  entries.push_back(value);
}

std::optional<std::int64_t> Document::integer(Id value) const {
  if (kind(value) == Kind::integer) return values_[value].number;
  if (kind(value) != Kind::real) return std::nullopt;
  constexpr double kLimit = 9.2e18;
  const double real = values_[value].real;
  if (!(std::abs(real) < kLimit)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(real));
}

std::optional<double> Document::real(Id value) const {
  if (kind(value) == Kind::real) return values_[value].real;
  if (kind(value) == Kind::integer) return static_cast<double>(values_[value].number);
  return std::nullopt;
}

std::optional<bool> Document::boolean(Id value) const {
  if (kind(value) != Kind::boolean) return std::nullopt;
  return values_[value].number != 0;
}

std::optional<std::string_view> Document::text(Id value) const {
  if (kind(value) != Kind::text) return std::nullopt;
  return texts_[static_cast<std::size_t>(values_[value].number)];
}

std::span<const Document::Id> Document::items(Id list) const {
  if (kind(list) != Kind::list) return {};
  const std::vector<Id>& items = containers_[static_cast<std::size_t>(values_[list].number)];
  looked_at_ += items.size();
  return items;
}

std::span<const Document::Id> Document::entries(Id dictionary) const {
  if (kind(dictionary) != Kind::dictionary) return {};
  return containers_[static_cast<std::size_t>(values_[dictionary].number)];
}

std::optional<Document::Id> Document::find(Id dictionary, std::string_view key) const {
  std::span<const Id> all = entries(dictionary);
  if (all.size() > 2 * kMaxFields) all = all.last(2 * kMaxFields);
  for (std::size_t i = all.size(); i >= 2; i -= 2) {
    ++looked_at_;
    if (text(all[i - 2]) == key) return all[i - 1];
  }
  return std::nullopt;
}

}  // namespace lockstep::analyzer::flight_recorder
