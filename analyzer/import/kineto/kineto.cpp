#include "analyzer/import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/import/kineto/byte_source.h"
#include "analyzer/import/kineto/event_stream.h"
#include "analyzer/import/kineto/rank_builder.h"
#include "base/counts.h"

namespace lockstep::analyzer::kineto {
namespace {

Status check(const std::string& file, const StreamSummary& summary) {
  const auto error = [&](const std::string& what) { return Error{fmt::format("{}: {}", file, what)}; };
  if (summary.empty) return error(summary.problem.empty() ? "the file is empty" : summary.problem);
  if (summary.events > 0) return {};
  if (summary.has_events && summary.problem.empty())
    return error(
        summary.unreadable == 0
            ? "traceEvents holds no events: the profiler recorded nothing (does its schedule reach an "
              "active step?)"
            : "no element of traceEvents is an event: not a Kineto trace");
  if (!summary.problem.empty())
    return error(fmt::format("no traceEvents could be read: {}. Copy the file again, or record again",
                             summary.problem));
  return error("JSON without an array \"traceEvents\": not a Kineto trace");
}

void warn(RankImport& import, const StreamSummary& summary) {
  const std::string& file = import.trace.file;
  if (!summary.problem.empty()) {
    import.warn("file_damaged", fmt::format("{}: {}; the {} before are used", file, summary.problem,
                                            format_plural(summary.events, "event", "events")));
    import.trace.lost.push_back({-kLatest, kLatest});  // events stand in no order of time
  }
  if (summary.unreadable > 0) {
    import.warn("events_unreadable",
                fmt::format("{}: {} no JSON objects and left out", file,
                            format_plural(summary.unreadable, "element of traceEvents is",
                                          "elements of traceEvents are")));
    import.trace.dropped_events += summary.unreadable;
  }
  if (summary.repaired_bytes > 0)
    import.warn("text_repaired",
                fmt::format("{}: {} no UTF-8 or control characters within text; replaced", file,
                            format_plural(summary.repaired_bytes, "byte is", "bytes are")));
}

}  // namespace

namespace {

struct Read {
  RankImport import;
  StreamSummary summary;
  bool only_the_cpu_computed = false;
};

// The whole file once. `operators`: what the CPU computes is what is wanted of it.
Result<Read> read_file(const std::filesystem::path& path, const Options& options, bool operators) {
  Result<ByteSource> opened = ByteSource::open(path);
  if (!opened.ok()) return opened.error();
  ByteSource& source = opened.value();
  const double size = static_cast<double>(std::max<std::uint64_t>(source.file_size(), 1));
  RankBuilder builder(path.string(), options, operators,
                      [&] { return static_cast<double>(source.file_done()) / size; });
  StreamOptions stream;
  if (!source.compressed()) stream.window = std::clamp<std::size_t>(source.file_size(), 4096, stream.window);
  std::uint64_t reported = 0;
  if (options.progress) {
    stream.progress = [&] {
      const std::uint64_t done = source.file_done() - std::exchange(reported, source.file_done());
      options.progress(operators ? 0 : done);  // was told of the first time
    };
  }
  Read read;
  read.summary = stream_events(source, builder, stream);
  if (const Status status = check(path.string(), read.summary); !status.ok()) return status.error();
  read.only_the_cpu_computed = builder.only_the_cpu_computed();
  read.import = builder.take();
  return read;
}

}  // namespace

Result<RankImport> import_file(const std::filesystem::path& path, const Options& options) {
  Result<Read> read = read_file(path, options, false);
  if (!read.ok()) return read.error();
  // Whether a device computes is known at the end; keeping all operators until then would cost every profile
  // of a GPU what only those of a CPU need.
  if (read.value().only_the_cpu_computed) {
    read = read_file(path, options, true);
    if (!read.ok()) return read.error();
  }
  RankImport import = std::move(read.value().import);
  warn(import, read.value().summary);
  return import;
}

}  // namespace lockstep::analyzer::kineto
