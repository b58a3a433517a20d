#include "analyzer/model/job.h"

#include <algorithm>
#include <utility>

namespace lockstep::analyzer {

StringTable::StringTable() {
  intern("");
}

StringTable::StringTable(const StringTable& other) {
  for (const std::string& text : other.texts_) intern(text);
}

StringTable& StringTable::operator=(const StringTable& other) {
  StringTable copy(other);
  std::swap(texts_, copy.texts_);
  std::swap(ids_, copy.ids_);
  return *this;
}

std::uint32_t StringTable::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

const char* to_string(Class activity_class) {
  switch (activity_class) {
    case Class::compute:
      return "compute";
    case Class::collective:
      return "collective";
    case Class::p2p:
      return "p2p";
    case Class::copy:
      return "copy";
    case Class::sync:
      return "sync";
    case Class::unclassified:
      return "unclassified";
  }
  return "unknown";
}

bool RankTrace::was_lost_within(Nanoseconds begin, Nanoseconds end) const {
  return std::any_of(lost.begin(), lost.end(),
                     [&](const TimeSpan& span) { return span.begin <= end && begin <= span.end; });
}

}  // namespace lockstep::analyzer
