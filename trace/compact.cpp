#include "trace/compact.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/small_file.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace lockstep::trace {
namespace {

// In names of copies, between the file's own and the number of the process that makes the copy.
constexpr std::string_view kCopy = ".compact-";

std::uint64_t size_of(const char* path) {
  struct stat status {};
  return stat(path, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Ids must not move, since events refer to them: every table is copied in order.
bool copy_tables(const Reader& from, Writer& to) {
  for (const auto& [key, value] : from.metadata()) to.set_metadata(key, value);
  to.set_metadata(kCompacted, "1");
  for (StringId id = 0; id < from.string_count(); ++id) {
    if (to.intern(from.string(id)) != id) return false;
  }
  for (LaneId id = 0; id < from.lanes().size(); ++id) {
    if (to.add_lane(from.lanes()[id]) != id) return false;
  }
  for (GroupId id = 0; id < from.groups().size(); ++id) {
    if (to.add_group(from.groups()[id]) != id) return false;
  }
  return true;
}

// A writer that takes events until somebody has waited long enough for it. What is read after that is decoded
// still, which is the cheap half.
class Copy {
 public:
  Copy(Writer& to, const std::function<bool()>& enough) : to_(to), enough_(enough) {}

  template <class... Event>
  void append(const Event&... event) {
    if (++events_ % kEventsBetweenQuestions == 0) ask();
    if (!given_up_) to_.append(event...);
  }
  void ask() { given_up_ = given_up_ || (enough_ != nullptr && enough_()); }
  bool given_up() const { return given_up_; }

 private:
  static constexpr std::uint64_t kEventsBetweenQuestions = 10'000;
  Writer& to_;
  const std::function<bool()>& enough_;
  std::uint64_t events_ = 0;
  bool given_up_ = false;
};

template <class Event>
Status copy_plain(const Reader& from, Copy& to) {
  return from.read<Event>({}, [&](const Event& event) { to.append(event); });
}

template <class Event>
Status copy_with_arguments(const Reader& from, Copy& to) {
  return from.read_with_arguments<Event>(
      {}, [&](const Event& event, std::span<const Argument> arguments) { to.append(event, arguments); });
}

// Of the open ranges only those that never ended, each once: it may have been written at several flushes.
Status copy_open_ranges(const Reader& from, Copy& to) {
  const Result<std::vector<OpenRange>> unfinished = from.unfinished_ranges();
  if (!unfinished.ok()) return unfinished.error();
  std::vector<OpenRange> wanted = unfinished.value();
  return from.read_with_arguments<OpenRange>(
      {}, [&](const OpenRange& range, std::span<const Argument> arguments) {
        const auto found = std::find(wanted.begin(), wanted.end(), range);
        if (found == wanted.end()) return;
        wanted.erase(found);
        to.append(range, arguments);
      });
}

// False if not all could be read, or it took too long.
bool copy_events(const Reader& from, Writer& writer, const std::function<bool()>& enough) {
  Copy to(writer, enough);
  using CopyKind = Status (*)(const Reader&, Copy&);
  for (const CopyKind copy :
       {&copy_with_arguments<HostRange>, &copy_open_ranges, &copy_with_arguments<Mark>, &copy_plain<Counter>,
        &copy_plain<DeviceActivity>, &copy_plain<ApiCall>, &copy_plain<Collective>, &copy_plain<Step>,
        &copy_plain<ClockSnapshot>, &copy_plain<Drop>, &copy_plain<CollectiveIssue>}) {
    to.ask();
    if (to.given_up() || !copy(from, to).ok()) return false;
  }
  return !to.given_up();
}

bool same_counts(const Reader& before, const Reader& after) {
  for (const EventKind kind :
       {EventKind::host_range, EventKind::mark, EventKind::counter, EventKind::device_activity,
        EventKind::api_call, EventKind::collective, EventKind::step, EventKind::clock_snapshot,
        EventKind::drop, EventKind::collective_issue}) {
    if (before.count(kind) != after.count(kind)) return false;
  }
  return true;
}

// Why it could not be, in words; empty if it stands there.
std::string put_on_disk(const std::string& path) {
  const int file = open_regular_file(path);
  const std::string why = file >= 0 && lockstep::put_on_disk(file) ? "" : std::strerror(errno);
  if (file >= 0) close(file);
  return why;
}

}  // namespace

std::optional<CopyName> parse_copy_name(std::string_view name) {
  const std::size_t at = name.rfind(kCopy);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::optional<pid_t> process = parse_number<pid_t>(name.substr(at + kCopy.size()), 1);
  if (!process.has_value()) return std::nullopt;
  return CopyName{name.substr(0, at), *process};
}

Result<bool> compact(const char* path, const std::function<bool()>& enough) {
  const Result<Reader> opened = Reader::open(path);
  if (!opened.ok()) return opened.error();
  const Reader& from = opened.value();
  if (!from.complete() || !from.warnings().empty()) return false;

  const std::string beside = std::string(path) + std::string(kCopy) + std::to_string(getpid());
  WriterOptions options;
  options.compression_level = 9;  // nobody's training waits for this
  std::remove(beside.c_str());    // of an earlier process of our number
  Result<Writer> created = Writer::create(beside.c_str(), options);
  if (!created.ok()) return created.error();
  Writer to = std::move(created).value();

  bool keep = copy_tables(from, to) && copy_events(from, to, enough);
  const Status closed = to.close();
  if (keep && closed.ok()) {
    const Result<Reader> copied = Reader::open(beside);
    keep = copied.ok() && copied.value().complete() && copied.value().verify().ok() &&
           same_counts(from, copied.value()) && size_of(beside.c_str()) < size_of(path);
  }
  if (!closed.ok() || !keep) {
    std::remove(beside.c_str());
    if (!closed.ok()) return closed.error();
    return false;
  }
  // The old file is complete, and may have been on the disk for long: what replaces it has to be there as
  // well.
  if (const std::string why = put_on_disk(beside); !why.empty()) {
    std::remove(beside.c_str());
    return Error{std::string(path) + ": the compacted copy could not be put on the disk: " + why};
  }
  if (std::rename(beside.c_str(), path) != 0) {
    std::remove(beside.c_str());
    return Error{std::string(path) + ": the compacted copy could not take its place"};
  }
  return true;
}

}  // namespace lockstep::trace
