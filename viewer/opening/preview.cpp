#include "viewer/opening/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/import/run/run.h"
#include "base/numbers.h"
#include "trace/reader.h"

namespace lockstep::viewer {

using trace::Nanoseconds;

namespace {

std::string metadata_of(const trace::Reader& reader, const char* key) {
  const auto found = reader.metadata().find(key);
  return found == reader.metadata().end() ? std::string() : found->second;
}

std::optional<RankPreview> read(const std::filesystem::path& file) {
  const Result<trace::Reader> opened = trace::Reader::open(file);
  if (!opened.ok()) return std::nullopt;
  const trace::Reader& reader = opened.value();
  RankPreview found;
  const std::string number = metadata_of(reader, "rank");
  std::string_view digits = number;
  const auto rank = take_number<std::int32_t>(digits);
  if (!rank) return std::nullopt;
  found.rank.rank = *rank;
  found.rank.host = metadata_of(reader, "host");
  found.clock = metadata_of(reader, "clock_id");
  if (found.clock.empty()) found.clock = found.rank.host;
  for (const trace::ChunkInfo& chunk : reader.chunks()) {
    if (!chunk.lane || *chunk.lane >= reader.lanes().size() || chunk.end < chunk.begin) continue;
    const trace::LaneKind kind = reader.lanes()[*chunk.lane].kind;
    const bool communicates =
        chunk.kind == trace::EventKind::collective || kind == trace::LaneKind::communication;
    if (!communicates && chunk.kind != trace::EventKind::device_activity) continue;
    found.first = std::min(found.first, chunk.begin);
    (communicates ? found.rank.communicating : found.rank.computing)
        .push_back({chunk.begin, chunk.end, chunk.count});
  }
  return found;
}

// Saturating, as damaged files may hold any time.
Nanoseconds since(Nanoseconds time, Nanoseconds first) {
  Nanoseconds result = 0;
  if (__builtin_sub_overflow(time, first, &result)) return std::numeric_limits<Nanoseconds>::max();
  return result;
}

}  // namespace

RunPreview assemble(std::vector<RankPreview> ranks) {
  std::map<std::string, Nanoseconds> first;
  for (const RankPreview& rank : ranks) {
    Nanoseconds& begin = first.try_emplace(rank.clock, rank.first).first->second;
    begin = std::min(begin, rank.first);
  }
  RunPreview preview;
  for (RankPreview& rank : ranks) {
    for (std::vector<PreviewSpan>* spans : {&rank.rank.computing, &rank.rank.communicating}) {
      for (PreviewSpan& span : *spans) {
        span.begin = since(span.begin, first[rank.clock]);
        span.end = since(span.end, first[rank.clock]);
        preview.length = std::max(preview.length, span.end);
        preview.events += span.events;
      }
      std::sort(spans->begin(), spans->end(),
                [](const PreviewSpan& a, const PreviewSpan& b) { return a.begin < b.begin; });
    }
    preview.ranks.push_back(std::move(rank.rank));
  }
  std::sort(preview.ranks.begin(), preview.ranks.end(),
            [](const PreviewRank& a, const PreviewRank& b) { return a.rank < b.rank; });
  return preview;
}

Result<RunPreview> preview_of(const std::string& path, const std::function<bool()>& stop) {
  if (!analyzer::run::is_run_folder(path)) return Error{fmt::format("{}: not a run folder", path)};
  const Result<analyzer::run::Folder> folder = analyzer::run::open_folder(path);
  if (!folder.ok()) return folder.error();
  std::vector<RankPreview> ranks;
  for (const std::filesystem::path& file : folder.value().rank_files) {
    if (stop && stop()) break;
    if (std::optional<RankPreview> rank = read(file)) ranks.push_back(std::move(*rank));
  }
  if (ranks.empty()) return Error{fmt::format("{}: no rank's file can be read", path)};
  return assemble(std::move(ranks));
}

std::vector<double> events_by_column(const std::vector<PreviewSpan>& spans, Nanoseconds length,
                                     std::size_t columns) {
  std::vector<double> events(columns, 0.0);
  if (length <= 0 || columns == 0) return events;
  const double width = static_cast<double>(length) / static_cast<double>(columns);
  for (const PreviewSpan& span : spans) {
    const double begin = static_cast<double>(span.begin) / width;
    // An instant belongs to one column.
    const double end = std::max(static_cast<double>(span.end) / width, begin + 1e-9);
    const auto last = static_cast<double>(columns);
    for (auto at = static_cast<std::size_t>(std::clamp(begin, 0.0, last - 1)); at < columns; ++at) {
      const auto left = static_cast<double>(at);
      if (left >= end) break;
      const double covered = std::min(end, left + 1) - std::max(begin, left);
      events[at] += static_cast<double>(span.events) * covered / (end - begin);
    }
  }
  return events;
}

}  // namespace lockstep::viewer
