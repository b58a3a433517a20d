#include "analyzer/import/input_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyzer/import/flight_recorder/flight_recorder.h"
#include "analyzer/import/nccl_log/nccl_log.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/run/run.h"
#include "trace/reader.h"

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnderstood =
    "Understood are run folders of `lockstep record` and their .lst files, Kineto JSON (torch.profiler), "
    "plain or gzip, SQLite exports of Nsight Systems (`nsys export --type sqlite`), and dumps of PyTorch's "
    "flight recorder; one file a rank or a folder of them; beside them NCCL's logs (NCCL_DEBUG=INFO)";

constexpr unsigned kBeginning = 4096;
// Enough for what stands before Kineto's events: devices, groups, what the user added.
constexpr unsigned kBeginningOfJson = 1 << 20;
// Enough for a job's output to come to NCCL's lines.
constexpr unsigned kBeginningOfLog = 1 << 16;

bool is_trace_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".sqlite") ||
         name.ends_with(".sqlite.gz");
}

// "nccl_trace_rank_3", "_dump_3", "rank3.pickle": what flight recorders write has any name. Their content is
// looked at before they count.
bool may_be_dump_name(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".pickle") || name.ends_with(".pkl")) return true;
  return !name.empty() && name.find('.') == std::string::npos && name.back() >= '0' && name.back() <= '9';
}

// Logs have any name too, and hold anything.
bool may_be_log_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".log") || name.ends_with(".log.gz") || name.starts_with("nccl");
}

// The first bytes, uncompressed: zlib's gz functions pass plain files through.
Result<std::string> beginning_of(const fs::path& path, unsigned size) {
  std::string bytes(size, '\0');
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return Error{fmt::format("{}: can't be opened (permissions?)", path.string())};
  const int got = gzread(file.get(), bytes.data(), size);
  // Damage within the first bytes is told by the reader that the content calls for.
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

Result<InputKind> kind_of(const fs::path& path) {
  const Result<std::string> beginning = beginning_of(path, kBeginning);
  if (!beginning.ok()) return beginning.error();
  std::string_view text = beginning.value();
  if (trace::Reader::recognises(std::as_bytes(std::span(text.data(), text.size()))))
    return InputKind::run_file;
  // One of ours that was cut to nothing while it was written: what came later stands behind zeros.
  constexpr std::size_t kHeaders = 96;
  if (path.extension() == ".lst" && !text.empty() && text.find_first_not_of('\0') >= kHeaders)
    return InputKind::run_file;
  const auto unknown = [&](const char* what) {
    return Error{fmt::format("{}: {}. {}", path.string(), what, kUnderstood)};
  };
  if (text.starts_with("SQLite format 3")) return InputKind::nsys;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (flight_recorder::recognises(text)) {
    // What tells JSON of other kinds apart may stand further on.
    const Result<std::string> far = beginning_of(path, kBeginningOfJson);
    if (text.front() != '{' || !far.ok() || flight_recorder::recognises(far.value()))
      return InputKind::flight_recorder;
  }
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || text[at] == '{') return InputKind::kineto;
  // Before lists of JSON: lines of a log may begin with a bracket too.
  const Result<std::string> more = beginning_of(path, kBeginningOfLog);
  if (more.ok() && nccl_log::recognises(more.value())) return InputKind::nccl_log;
  if (text[at] == '[') return InputKind::kineto;
  return unknown("neither a trace of ours, nor JSON, nor a pickle, nor a log of NCCL");
}

bool is_of_kind(const fs::path& path, InputKind wanted) {
  const Result<InputKind> kind = kind_of(path);
  return kind.ok() && kind.value() == wanted;
}

// Of files in a folder: by name, or, where any file may have such a name, by content.
bool is_input(const fs::path& path) {
  return is_trace_name(path) || (may_be_dump_name(path) && is_of_kind(path, InputKind::flight_recorder)) ||
         (may_be_log_name(path) && is_of_kind(path, InputKind::nccl_log));
}

// Kineto JSON by what stands at its beginning: run folders hold other JSON.
bool is_foreign_trace(const fs::path& path) {
  const Result<InputKind> kind =
      is_trace_name(path) || may_be_dump_name(path) ? kind_of(path) : Result<InputKind>(Error{""});
  if (!kind.ok() || kind.value() == InputKind::run_file || kind.value() == InputKind::nccl_log) return false;
  if (kind.value() != InputKind::kineto) return true;
  const Result<std::string> beginning = beginning_of(path, kBeginning);
  return beginning.ok() && (beginning.value().find("\"traceEvents\"") != std::string::npos ||
                            beginning.value().find("\"distributedInfo\"") != std::string::npos ||
                            beginning.value().find("\"deviceProperties\"") != std::string::npos);
}

class Finder {
 public:
  // `several`: paths were given, as a shell's pattern gives them. Then a file that is no trace is said and
  // left out; the one that isn't there is an error all the same: somebody mistyped it.
  Status add(const std::string& text, bool several) {
    const fs::path path(text);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
      return Error{fmt::format("{}: no such file or folder", text)};
    if (error) return Error{fmt::format("{}: {}", text, error.message())};
    if (fs::is_regular_file(status)) {
      if (!several) return add_file(path);
      add_found(path);
      return {};
    }
    if (!fs::is_directory(status)) return Error{fmt::format("{}: neither a file nor a folder", text)};
    return run::is_run_folder(path) ? add_run(path) : add_folder(path);
  }
  InputFiles take() { return std::move(out_); }

 private:
  Status add_file(const fs::path& path) {
    std::error_code unknown;
    // Opening a named pipe would wait for somebody to write into it.
    if (const fs::file_status status = fs::status(path, unknown);
        fs::exists(status) && !fs::is_regular_file(status))
      return Error{fmt::format("{}: not a regular file", path.string())};
    const Result<InputKind> kind = kind_of(path);
    if (!kind.ok()) return kind.error();
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error) return Error{fmt::format("{}: {}", path.string(), error.message())};
    fs::path canonical = fs::weakly_canonical(path, error);
    if (error) canonical = path;
    if (!seen_.insert(std::move(canonical)).second) {
      out_.warnings.push_back(
          {"file_repeated", fmt::format("{}: given twice; read once", path.string()), kNoRank});
      return {};
    }
    if (kind.value() == InputKind::nccl_log)
      out_.nccl_logs.push_back(path);
    else
      out_.files.push_back({path, kind.value(), size});
    return {};
  }

  // In a folder, one bad file must not hide the good ones.
  void add_found(const fs::path& path) {
    const Status status = add_file(path);
    if (!status.ok()) out_.warnings.push_back({"file_unreadable", status.error().message, kNoRank});
  }

  void add_sorted(std::vector<fs::path> found) {
    std::sort(found.begin(), found.end(),
              [](const fs::path& a, const fs::path& b) { return name_comes_before(a.native(), b.native()); });
    for (const fs::path& path : found) add_found(path);
  }

  Status add_run(const fs::path& path) {
    Result<run::Folder> folder = run::open_folder(path);
    if (!folder.ok()) return folder.error();
    std::move(folder.value().clocks.begin(), folder.value().clocks.end(), std::back_inserter(out_.clocks));
    out_.world_size = std::max(out_.world_size, folder.value().world_size);
    take_end(folder.value().end);
    std::move(folder.value().warnings.begin(), folder.value().warnings.end(),
              std::back_inserter(out_.warnings));
    for (const fs::path& file : folder.value().rank_files) add_found(file);
    warn_of_others_in(path);
    std::vector<fs::path> logs;
    std::error_code ignored;
    for (fs::directory_iterator at(path, ignored), end; !ignored && at != end; at.increment(ignored)) {
      std::error_code unreadable;
      if (at->is_regular_file(unreadable) && may_be_log_name(at->path()) &&
          is_of_kind(at->path(), InputKind::nccl_log))
        logs.push_back(at->path());
    }
    add_sorted(std::move(logs));
    return {};
  }

  // Of several runs the first that did not end well, and the first interruption of all.
  void take_end(const JobEnd& end) {
    JobEnd& known = out_.end;
    if (!known.signal.has_value() && known.exit_code.value_or(0) == 0) {
      known.signal = end.signal;
      known.exit_code = end.exit_code;
    }
    if (!end.interrupted_by || (known.interrupted_by && known.interrupted_at <= end.interrupted_at)) return;
    known.interrupted_by = end.interrupted_by;
    known.interrupted_at = end.interrupted_at;
  }

  // Traces of other tools in a run's folder are not of the run; nobody should think that they were read.
  void warn_of_others_in(const fs::path& folder) {
    std::vector<std::string> others;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code unreadable;
      if (!at->is_regular_file(unreadable) || !is_foreign_trace(at->path())) continue;
      others.push_back(at->path().filename().string());
    }
    if (others.empty()) return;
    std::sort(others.begin(), others.end());
    out_.warnings.push_back(
        {"files_left_out",
         fmt::format(
             "{}: {} of other tools ({}{}) {} beside the run's own and {} left out; give {} as files to "
             "analyze {}",
             folder.string(), others.size() == 1 ? "a trace" : fmt::format("{} traces", others.size()),
             others.front(), others.size() > 1 ? ", …" : "", others.size() == 1 ? "stands" : "stand",
             others.size() == 1 ? "is" : "are", others.size() == 1 ? "it" : "them",
             others.size() == 1 ? "it" : "them"),
         kNoRank});
  }

  // One is analyzed at a time; people gave the folder that they are in.
  static Error several_runs(const fs::path& folder, std::vector<fs::path> runs, std::size_t others) {
    constexpr std::size_t kMaxListed = 20;
    std::sort(runs.begin(), runs.end(),
              [](const fs::path& a, const fs::path& b) { return name_comes_before(a.native(), b.native()); });
    std::string message =
        fmt::format("{}: {}{} in this folder; give one of them, for example {}", folder.string(),
                    runs.size() == 1 ? "a run" : fmt::format("{} runs", runs.size()),
                    others > 0 ? " and traces of other tools" : "", runs.front().string());
    for (std::size_t i = 0; i < std::min(runs.size(), kMaxListed); ++i)
      message += fmt::format("\n  {}", runs[i].string());
    if (runs.size() > kMaxListed) message += fmt::format("\n  … and {} more", runs.size() - kMaxListed);
    return Error{std::move(message)};
  }

  Status add_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found, runs;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error),
         end;
         !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (at->is_directory(ignored) && run::is_run_folder(at->path())) {
        runs.push_back(at->path());
        at.disable_recursion_pending();
        continue;
      }
      if (!at->is_regular_file(ignored)) continue;
      if (is_input(at->path())) found.push_back(at->path());
    }
    if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
    if (runs.size() == 1 && found.empty()) return add_run(runs.front());
    if (!runs.empty()) return several_runs(folder, std::move(runs), found.size());
    if (found.empty())
      return Error{fmt::format(
          "{}: no ranks in this folder (no rank-<N>.lst, *.json, *.sqlite or flight recorder's dump). {}",
          folder.string(), kUnderstood)};
    add_sorted(std::move(found));
    return {};
  }

  InputFiles out_;
  std::set<fs::path> seen_;
};

}  // namespace

Result<InputFiles> find_input_files(const std::vector<std::string>& paths) {
  if (paths.empty()) return Error{fmt::format("no input given. {}", kUnderstood)};
  Finder finder;
  for (const std::string& path : paths)
    if (const Status status = finder.add(path, paths.size() > 1); !status.ok()) return status.error();
  InputFiles found = finder.take();
  if (found.files.empty() && found.warnings.empty() && !found.nccl_logs.empty()) {
    return Error{fmt::format(
        "{}: NCCL's log says over which way ranks talk, but not for how long: give the job's traces too",
        found.nccl_logs.front().string())};
  }
  return found;
}

}  // namespace lockstep::analyzer
