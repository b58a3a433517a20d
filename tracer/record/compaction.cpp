#include "tracer/record/compaction.h"

#include <string>
#include <system_error>
#include <vector>

#include "trace/compact.h"
#include "trace/reader.h"

namespace lockstep::tracer::record {

namespace fs = std::filesystem;

namespace {

// With several recorders in one run folder on a shared disk, each looks after the files of its own host.
bool was_written_on(const fs::path& file, const std::string& host) {
  const Result<trace::Reader> reader = trace::Reader::open(file);
  if (!reader.ok()) return false;
  const auto found = reader.value().metadata().find("host");
  return found != reader.value().metadata().end() && found->second == host;
}

}  // namespace

void compact_files(const fs::path& folder, const std::string& host) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".lst") files.push_back(entry->path());
  }
  for (const fs::path& file : files) {
    const std::uintmax_t size = fs::file_size(file, error);
    if (error || size > kLargestToCompact || !was_written_on(file, host)) continue;
    (void)trace::compact(file.c_str());
  }
}

}  // namespace lockstep::tracer::record
