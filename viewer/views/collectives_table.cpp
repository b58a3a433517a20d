#include "viewer/views/collectives_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "analyzer/report/quantity.h"
#include "analyzer/report/unicode.h"
#include "viewer/timeline/lower_case.h"
#include "viewer/timeline/standings.h"

namespace lockstep::viewer {

namespace {

std::string name_of(const Scene& scene, const CollectiveHead& head) {
  constexpr std::size_t kMost = 80;
  std::string text = trace::to_string(head.operation);
  const std::string_view name = scene.string(head.name);
  if (!name.empty()) text += " " + analyzer::printable(name.substr(0, 4 * kMost));
  return analyzer::fit(text, kMost);
}

}  // namespace

const char* title_of(CollectiveColumn column) {
  switch (column) {
    case CollectiveColumn::id:
      return "#";
    case CollectiveColumn::step:
      return "step";
    case CollectiveColumn::operation:
      return "operation";
    case CollectiveColumn::group:
      return "group";
    case CollectiveColumn::bytes:
      return "size";
    case CollectiveColumn::duration:
      return "took";
    case CollectiveColumn::last:
      return "last";
    case CollectiveColumn::wait:
      return "waited";
    case CollectiveColumn::busbw:
      return "busbw";
  }
  return "";
}

std::string cell_of(const Scene& scene, const CollectiveHead& head, CollectiveColumn column) {
  switch (column) {
    case CollectiveColumn::id:
      return fmt::format("{}", head.id);
    case CollectiveColumn::step:
      return head.has_step ? fmt::format("{}", head.step) : analyzer::kAbsent;
    case CollectiveColumn::operation:
      return name_of(scene, head);
    case CollectiveColumn::group:
      return analyzer::fit(analyzer::printable(scene.string(head.group_name).substr(0, 200)), 40);
    case CollectiveColumn::bytes:
      return head.has_bytes ? analyzer::format_bytes(head.bytes) : analyzer::kAbsent;
    case CollectiveColumn::duration:
      return analyzer::format_duration(static_cast<std::int64_t>(distance(head.begin, head.end)));
    case CollectiveColumn::last:
      return head.has_last_arriver ? fmt::format("rank {}", head.last_arriver) : analyzer::kAbsent;
    case CollectiveColumn::wait:
      return head.waits_known() ? analyzer::format_duration(head.wait_ns) : analyzer::kAbsent;
    case CollectiveColumn::busbw:
      return head.has_busbw_wire ? analyzer::format_bandwidth(head.busbw_wire_gbps) : analyzer::kAbsent;
  }
  return "";
}

CollectivesTable::CollectivesTable(const Scene& scene) : scene_(scene) {
  choose();
}

void CollectivesTable::set_filter(const std::string& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  choose();
}

void CollectivesTable::sort_by(CollectiveColumn column, bool descending) {
  if (column == column_ && descending == descending_) return;
  column_ = column;
  descending_ = descending;
  sort();
}

std::string CollectivesTable::summary() const {
  const std::string rows = format_plural(static_cast<std::int64_t>(rows_.size()), "collective");
  if (rows_.empty()) return unlisted() ? kWhereOrderStands : rows;
  if (waits_known_ == 0) return rows + ", waits not known";
  const std::string sum = fmt::format("{}, {} waited by all", rows, analyzer::format_duration(wait_ns_));
  const std::size_t unknown = rows_.size() - waits_known_;
  if (unknown == 0) return sum;
  return fmt::format("{}; waits of {} not known", sum, format_count(static_cast<std::int64_t>(unknown)));
}

bool CollectivesTable::unlisted() const {
  return scene_.order_alone() && scene_.collectives().empty();
}

void CollectivesTable::choose() {
  rows_.clear();
  wait_ns_ = 0;
  waits_known_ = 0;
  std::vector<std::string> words;
  std::istringstream stream(lower_case(filter_));
  for (std::string word; stream >> word;) words.push_back(word);
  const auto heads = scene_.collectives();
  for (std::uint32_t i = 0; i < heads.size(); ++i) {
    if (!words.empty()) {
      const CollectiveHead& head = heads[i];
      const std::string text = lower_case(
          fmt::format("{} {}{}{}", name_of(scene_, head), scene_.string(head.group_name).substr(0, 400),
                      head.has_step ? fmt::format(" step{0} step {0}", head.step) : "",
                      head.has_last_arriver ? fmt::format(" rank{0} rank {0}", head.last_arriver) : ""));
      if (!std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return text.find(word) != std::string::npos; }))
        continue;
    }
    rows_.push_back(i);
    if (!heads[i].waits_known()) continue;
    wait_ns_ += heads[i].wait_ns;
    ++waits_known_;
  }
  sort();
}

void CollectivesTable::sort() {
  const auto heads = scene_.collectives();
  // Ties stand in order of time, in both directions.
  const auto by = [&](const auto& key) {
    std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto of_a = key(heads[a]), of_b = key(heads[b]);
      if (of_a < of_b) return !descending_;
      if (of_b < of_a) return descending_;
      return a < b;
    });
  };
  switch (column_) {
    case CollectiveColumn::id:
      return by([](const CollectiveHead& head) { return head.id; });
    case CollectiveColumn::step:
      return by([](const CollectiveHead& head) { return std::pair(head.has_step, head.step); });
    case CollectiveColumn::operation:
      return by([this](const CollectiveHead& head) {
        return std::pair(std::string_view(trace::to_string(head.operation)), scene_.string(head.name));
      });
    case CollectiveColumn::group:
      return by([this](const CollectiveHead& head) { return scene_.string(head.group_name); });
    case CollectiveColumn::bytes:
      return by([](const CollectiveHead& head) { return std::pair(head.has_bytes, head.bytes); });
    case CollectiveColumn::duration:
      return by([](const CollectiveHead& head) { return distance(head.begin, head.end); });
    case CollectiveColumn::last:
      return by(
          [](const CollectiveHead& head) { return std::pair(head.has_last_arriver, head.last_arriver); });
    case CollectiveColumn::wait:
      return by([this](const CollectiveHead& head) {
        return std::pair(head.waits_known() == descending_, head.waits_known() ? head.wait_ns : 0);
      });
    case CollectiveColumn::busbw:
      return by(
          [](const CollectiveHead& head) { return std::pair(head.has_busbw_wire, head.busbw_wire_gbps); });
  }
}

}  // namespace lockstep::viewer
