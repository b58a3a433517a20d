#include "viewer/views/search.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "analyzer/report/range_text.h"
#include "base/numbers.h"
#include "viewer/timeline/lower_case.h"
#include "viewer/views/names_of_run.h"

namespace lockstep::viewer {

namespace {

using analyzer::Class;

// Nobody searches for what stands behind it, and 100 kB names would make every search slow.
constexpr std::size_t kLongestName = 4096;

std::optional<SearchClass> class_named(std::string_view name) {
  if (name == "compute") return SearchClass::compute;
  if (name == "collective") return SearchClass::collective;
  if (name == "p2p") return SearchClass::p2p;
  if (name == "copy") return SearchClass::copy;
  if (name == "host") return SearchClass::host;
  return std::nullopt;
}

// An attribute, "rank=3"; nothing where the word is none of them.
Result<bool> take_attribute(const std::string& word, SearchQuery& query) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
  if (key == "rank" || key == "step") {
    const auto number = parse_number<std::int64_t>(value);
    if (!number || (key == "rank" && (*number < 0 || *number > INT32_MAX)))
      return Error{fmt::format("'{}': {} is a number, for example {}=3", word, key, key)};
    if (key == "rank")
      query.rank = static_cast<std::int32_t>(*number);
    else
      query.step = *number;
    return true;
  }
  if (key == "class") {
    const auto kind = class_named(value);
    if (!kind) return Error{fmt::format("'{}': a class is compute, collective, p2p, copy or host", word)};
    query.kind = *kind;
    return true;
  }
  if (key == "longer" || key == "shorter") {
    const Result<Nanoseconds> time = analyzer::parse_time(value);
    if (!time.ok()) return time.error();
    (key == "longer" ? query.longer_ns : query.shorter_ns) = time.value();
    return true;
  }
  return false;  // names may hold "="
}

bool is_of(Class kind, SearchClass wanted) {
  switch (wanted) {
    case SearchClass::any:
      return true;
    case SearchClass::compute:
      return kind == Class::compute;
    case SearchClass::collective:
      return kind == Class::collective;
    case SearchClass::p2p:
      return kind == Class::p2p;
    case SearchClass::copy:
      return kind == Class::copy;
    case SearchClass::host:
      return false;
  }
  return false;
}

}  // namespace

Result<SearchQuery> parse_search(const std::string& text) {
  SearchQuery query;
  std::string rest = text;
  // The pattern may hold blanks: it runs from the first slash to the last one.
  const std::size_t from = rest.find('/'), to = rest.rfind('/');
  const bool at_word = from == 0 || (from != std::string::npos && rest[from - 1] == ' ');
  if (at_word && to > from) {
    re2::RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    auto pattern = std::make_shared<re2::RE2>(rest.substr(from + 1, to - from - 1), options);
    if (!pattern->ok()) return Error{fmt::format("'{}': {}", pattern->pattern(), pattern->error())};
    query.pattern = std::move(pattern);
    rest.erase(from, to - from + 1);
  }
  std::istringstream stream(rest);
  for (std::string word; stream >> word;) {
    const Result<bool> attribute = take_attribute(word, query);
    if (!attribute.ok()) return attribute.error();
    if (!attribute.value()) query.words.push_back(lower_case(word));
  }
  return query;
}

std::string searched_part(std::string_view name) {
  return lower_case(name.substr(0, kLongestName));
}

bool matches(const SearchQuery& query, std::string_view name) {
  name = name.substr(0, kLongestName);
  if (!query.words.empty()) {
    const std::string text = searched_part(name);
    for (const std::string& word : query.words)
      if (text.find(word) == std::string::npos) return false;
  }
  return query.pattern == nullptr ||
         re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *query.pattern);
}

std::vector<bool> matching_names(const Scene& scene, const SearchQuery& query, const std::stop_token& stop) {
  std::vector<bool> names(scene.string_count());
  for (std::uint32_t id = 0; id < names.size() && !stop.stop_requested(); ++id)
    names[id] = matches(query, scene.string(id));
  return names;
}

std::vector<SearchHit> search_rank(const Scene& scene, std::uint32_t rank, const SearchQuery& query,
                                   const std::vector<bool>& names, std::size_t most) {
  std::vector<SearchHit> hits;
  const RankTracks& tracks = scene.timeline().ranks[rank];
  if (query.rank && *query.rank != tracks.rank) return hits;
  const RankData& data = scene.data(rank);
  const auto of_step = [&](std::uint32_t step) {
    return !query.step || (step < data.step_marks.size() && data.step_marks[step].number == *query.step);
  };
  for (std::uint32_t l = 0; l < tracks.lanes.size(); ++l) {
    const TrackLane& lane = tracks.lanes[l];
    const bool host = lane.role == LaneRole::host;
    if (lane.role == LaneRole::causes) continue;
    if (query.kind != SearchClass::any && host != (query.kind == SearchClass::host)) continue;
    for (std::uint32_t r = 0; r < lane.rows.size(); ++r) {
      const Row& row = lane.rows[r];
      for (std::uint32_t at = 0; at < row.size(); ++at) {
        const std::uint32_t index = row.item[at];
        std::uint32_t name = 0;
        Nanoseconds begin = 0, end = 0;
        if (host) {
          if (index >= data.host_ranges.size() || query.step) continue;
          name = data.host_ranges[index].name;
          begin = data.host_ranges[index].begin;
          end = data.host_ranges[index].end;
        } else {
          if (index >= data.activities.size()) continue;
          const analyzer::Activity& activity = data.activities[index];
          if (!is_of(activity.activity_class, query.kind) || !of_step(activity.step)) continue;
          name = activity.name;
          begin = activity.begin;
          end = activity.end;
        }
        if (name >= names.size() || !names[name]) continue;
        const std::uint64_t length = distance(begin, end);
        if (query.longer_ns &&
            length < static_cast<std::uint64_t>(std::max<std::int64_t>(*query.longer_ns, 0)))
          continue;
        if (query.shorter_ns &&
            (*query.shorter_ns < 0 || length > static_cast<std::uint64_t>(*query.shorter_ns)))
          continue;
        hits.push_back({{rank, l, r, at}, begin, end});
        if (hits.size() >= most) return hits;
      }
    }
  }
  return hits;
}

void Search::ask(const std::string& text) {
  if (text == text_) return;
  stop();
  text_ = text;
  hits_.clear();
  error_.clear();
  why_none_.clear();
  if (text.find_first_not_of(' ') == std::string::npos) return;
  Result<SearchQuery> query = parse_search(text);
  if (!query.ok()) {
    error_ = query.error().message;
    return;
  }
  done_ = false;
  worker_ = std::jthread([this, text, wanted = std::move(query).value()](const std::stop_token& stopped) {
    const std::vector<bool> names = matching_names(scene_, wanted, stopped);
    std::vector<SearchHit> found;
    for (std::uint32_t rank = 0; rank < scene_.timeline().ranks.size(); ++rank) {
      if (stopped.stop_requested() || found.size() >= kMaxHits) break;
      const auto of_rank = search_rank(scene_, rank, wanted, names, kMaxHits - found.size());
      found.insert(found.end(), of_rank.begin(), of_rank.end());
    }
    std::sort(found.begin(), found.end(), [](const SearchHit& a, const SearchHit& b) {
      return std::tuple(a.begin, a.item.rank, a.item.lane, a.item.row, a.item.at) <
             std::tuple(b.begin, b.item.rank, b.item.lane, b.item.row, b.item.at);
    });
    if (found.empty()) why_none_ = why_not_found(text, scene_, stopped);
    hits_ = std::move(found);
    done_ = true;
  });
}

const std::vector<SearchHit>& Search::hits() const {
  static const std::vector<SearchHit> kNone;
  return done_ ? hits_ : kNone;
}

const std::string& Search::why_none() const {
  static const std::string kUnknown;
  return done_ ? why_none_ : kUnknown;
}

void Search::wait() {
  if (worker_.joinable()) worker_.join();
}

void Search::stop() {
  if (!worker_.joinable()) return;
  worker_.request_stop();
  worker_.join();
  done_ = true;
}

}  // namespace lockstep::viewer
