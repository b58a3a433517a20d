#include "tests/end_to_end/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>

namespace lockstep::end_to_end {

namespace {

std::string describe_arguments(const trace::Reader& reader, std::span<const trace::Argument> arguments) {
  std::string text;
  for (const trace::Argument& argument : arguments) {
    text += fmt::format(" {}=", reader.string(argument.key));
    switch (argument.type) {
      case trace::ArgumentType::int64:
        text += fmt::format("{}", static_cast<std::int64_t>(argument.bits));
        break;
      case trace::ArgumentType::uint64:
        text += fmt::format("{}u", argument.bits);
        break;
      case trace::ArgumentType::float64:
        text += fmt::format("{:#}", std::bit_cast<double>(argument.bits));
        break;
      case trace::ArgumentType::string:
        text += fmt::format("'{}'", reader.string(static_cast<trace::StringId>(argument.bits)));
        break;
      case trace::ArgumentType::address:
        text += fmt::format("{:#x}", argument.bits);
        break;
    }
  }
  return text;
}

template <class Event>
std::string describe_common(const trace::Reader& reader, const Event& event) {
  std::string text(reader.string(event.name));
  if (event.domain != 0) text += fmt::format(" [{}]", reader.string(event.domain));
  if (event.category != 0) text += fmt::format(" category={}", reader.string(event.category));
  if (event.color != 0) text += fmt::format(" color={:08x}", event.color);
  return text;
}

void check(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message);
}

}  // namespace

std::string program(const std::string& name) {
  return std::string(LOCKSTEP_PROGRAMS_DIR) + "/" + name;
}

std::vector<std::string> behave(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{program("nvtx_behaviours")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Outcome shell(const std::string& script, const std::vector<std::string>& environment) {
  return run({"/bin/sh", "-c", script}, environment);
}

std::string injection_library() {
  return std::string(LOCKSTEP_BIN_DIR) + "/../lib/liblockstep-inject.so";
}

nlohmann::json RecordedRun::manifest() const {
  std::ifstream file(run_path() + "/manifest.json");
  return nlohmann::json::parse(file);
}

std::vector<std::string> RecordedRun::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run_path())) {
    if (entry.path().extension() == ".lst") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

trace::Reader RecordedRun::open() const {
  const std::vector<std::string> names = files();
  if (names.size() != 1) throw std::runtime_error(fmt::format("{} trace files instead of one", names.size()));
  return open(names.front());
}

trace::Reader RecordedRun::open(const std::string& file) const {
  Result<trace::Reader> reader = trace::Reader::open(run_path() + "/" + file);
  if (!reader.ok()) throw std::runtime_error(reader.error().message);
  return std::move(reader).value();
}

std::vector<std::string> record_command(const std::string& run_path, const std::vector<std::string>& options,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> line{binary("lockstep"), "record", "-o", run_path};
  line.insert(line.end(), options.begin(), options.end());
  line.emplace_back("--");
  line.insert(line.end(), command.begin(), command.end());
  return line;
}

std::vector<std::string> sanitizers_aside() {
  return {
      "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0",
      "TSAN_OPTIONS=die_after_fork=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:suppressions=" LOCKSTEP_SOURCE_DIR
      "/tests/thread_sanitizer.supp"};
}

void record(RecordedRun& result, const std::vector<std::string>& command,
            const std::vector<std::string>& environment, const std::vector<std::string>& options) {
  std::vector<std::string> variables = sanitizers_aside();
  variables.insert(variables.end(), environment.begin(), environment.end());
  result.outcome = run(record_command(result.run_path(), options, command), variables);
}

std::string of_the_job(const std::string& output) {
  return std::regex_replace(output, std::regex("lockstep record:[^\n]*\n(  [^\n]*\n)*"), "");
}

bool has_both_ranks_whole(const std::string& run_path) {
  std::ifstream file(run_path + "/manifest.json");
  const nlohmann::json manifest = nlohmann::json::parse(file, nullptr, false);
  if (!manifest.is_object() || manifest.value("state", "") != "finished") return false;
  // Where nothing was recorded they are not there.
  const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json ranks = manifest.value("ranks", none);
  if (ranks.size() != 2 || !manifest.value("missing_ranks", none).empty()) return false;
  return std::all_of(ranks.begin(), ranks.end(), [](const nlohmann::json& rank) {
    return rank.value("complete", false) && !rank.contains("problem") && rank.value("events", 0) > 0;
  });
}

std::vector<std::string> range_names(const trace::Reader& reader) {
  std::vector<std::string> names;
  check(reader.read<trace::HostRange>(
      {}, [&](const trace::HostRange& range) { names.emplace_back(reader.string(range.name)); }));
  return names;
}

std::vector<std::string> mark_names(const trace::Reader& reader) {
  std::vector<std::string> names;
  check(reader.read<trace::Mark>(
      {}, [&](const trace::Mark& mark) { names.emplace_back(reader.string(mark.name)); }));
  return names;
}

std::vector<std::string> unfinished_names(const trace::Reader& reader) {
  const Result<std::vector<trace::OpenRange>> open = reader.unfinished_ranges();
  if (!open.ok()) throw std::runtime_error(open.error().message);
  std::vector<std::string> names;
  for (const trace::OpenRange& range : open.value()) names.emplace_back(reader.string(range.name));
  return names;
}

std::map<std::string, std::uint64_t> drops(const trace::Reader& reader) {
  std::map<std::string, std::uint64_t> result;
  check(reader.read<trace::Drop>(
      {}, [&](const trace::Drop& drop) { result[std::string(reader.string(drop.reason))] += drop.count; }));
  return result;
}

std::vector<std::string> describe_ranges(const trace::Reader& reader) {
  std::vector<std::string> lines;
  check(reader.read_with_arguments<trace::HostRange>(
      {}, [&](const trace::HostRange& range, std::span<const trace::Argument> arguments) {
        std::string text = describe_common(reader, range);
        text += fmt::format(" lane={}", reader.lanes()[range.lane].name);
        if (range.end_lane != range.lane)
          text += fmt::format(" end_lane={}", reader.lanes()[range.end_lane].name);
        text += range.nested ? fmt::format(" depth={}", range.depth) : std::string(" free");
        lines.push_back(text + describe_arguments(reader, arguments));
      }));
  return lines;
}

std::vector<std::string> describe_marks(const trace::Reader& reader) {
  std::vector<std::string> lines;
  check(reader.read_with_arguments<trace::Mark>(
      {}, [&](const trace::Mark& mark, std::span<const trace::Argument> arguments) {
        lines.push_back(describe_common(reader, mark) + describe_arguments(reader, arguments));
      }));
  return lines;
}

std::string find_nesting_error(const trace::Reader& reader) {
  std::map<trace::LaneId, std::vector<trace::HostRange>> lanes;
  check(reader.read<trace::HostRange>({}, [&](const trace::HostRange& range) {
    if (range.nested) lanes[range.lane].push_back(range);
  }));
  for (auto& [lane, ranges] : lanes) {
    std::sort(ranges.begin(), ranges.end(), [](const trace::HostRange& a, const trace::HostRange& b) {
      return std::tuple(a.begin, a.depth) < std::tuple(b.begin, b.depth);
    });
    std::vector<trace::HostRange> open;
    for (const trace::HostRange& range : ranges) {
      if (range.end < range.begin) return fmt::format("a range of lane {} ends before it begins", lane);
      // An end and a begin may fall on the same nanosecond, as may two begins.
      while (!open.empty() && (open.back().depth >= range.depth || open.back().end < range.begin)) {
        if (open.back().end > range.begin) {
          return fmt::format("'{}' begins at depth {} before '{}' of depth {} ends",
                             reader.string(range.name), range.depth, reader.string(open.back().name),
                             open.back().depth);
        }
        open.pop_back();
      }
      if (!open.empty() && open.back().end < range.end) {
        return fmt::format("'{}' outlives '{}' around it", reader.string(range.name),
                           reader.string(open.back().name));
      }
      open.push_back(range);
    }
  }
  return {};
}

}  // namespace lockstep::end_to_end
