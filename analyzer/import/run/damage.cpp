#include "analyzer/import/run/damage.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/model/survivor.h"
#include "trace/compact.h"
#include "trace/writer.h"

namespace lockstep::analyzer::run {

void find_losses(const trace::Reader& reader, const std::set<std::string>& damage, RankImport& import) {
  const bool cut_after_closing = !reader.complete() && reader.metadata().contains(trace::kCompacted);
  // Nor is anything known of a rank whose file holds nothing but its first bytes: its events stand behind its
  // metadata. It is not one that did nothing.
  const bool nothing_left = !reader.complete() && reader.metadata().empty() && reader.chunks().empty();
  if (reader.has_gaps() || cut_after_closing || nothing_left) {
    import.trace.lost.push_back({-kLatest, kLatest});
  } else if (!damage.empty()) {
    for (const trace::ChunkInfo& chunk : reader.damaged_chunks()) {
      if (chunk.kind == trace::EventKind::device_activity || chunk.kind == trace::EventKind::collective)
        import.trace.lost.push_back({std::max(chunk.begin, -kLatest), std::min(chunk.end, kLatest)});
    }
  }
  std::sort(import.trace.lost.begin(), import.trace.lost.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
}

void warn_of_damage(const trace::Reader& reader, std::set<std::string> damage, RankImport& import) {
  if (const auto cut = reader.metadata().find(trace::kCutFromOutside); cut != reader.metadata().end())
    import.warn("file_damaged",
                fmt::format("{}: another program cut it to {} bytes while it was written: some "
                            "of what stood behind that is lost",
                            import.trace.file, cut->second));
  const bool whole = !reader.complete() && reader.metadata().contains(trace::kWrittenAfterDeath);
  for (const std::string& text : reader.warnings())
    if (!whole || !text.starts_with(trace::kNoFooter)) damage.insert(text);
  for (const std::string& text : damage)
    import.warn("file_damaged", text.find(import.trace.file) == std::string::npos
                                    ? fmt::format("{}: {}", import.trace.file, text)
                                    : text);
  if (whole) {
    import.warn(
        "file_incomplete",
        fmt::format(
            "{}: was not closed (the process was killed, crashed, or left by _exit or exec); all that it "
            "had recorded was written afterwards {}",
            import.trace.file, kSurvivorWrote));
  } else if (!reader.complete() && reader.warnings().empty()) {
    import.warn(
        "file_incomplete",
        fmt::format(
            "{}: was not closed (the process was killed, or is still running); read up to its last whole "
            "chunk",
            import.trace.file));
  }
}

}  // namespace lockstep::analyzer::run
