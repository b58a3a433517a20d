#include "analyzer/import/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/import/importers.h"
#include "analyzer/import/rank/file_name.h"
#include "analyzer/import/run/importer.h"
#include "analyzer/import/run/run.h"
#include "analyzer/import/several_recordings.h"

namespace lockstep::analyzer {
namespace {

namespace fs = std::filesystem;

bool may_be_named(const Importer& importer, const fs::path& path) {
  return importer.may_be_named != nullptr && importer.may_be_named(path.filename().string());
}

bool may_be_input(const fs::path& path) {
  const auto importers = all_importers();
  return std::any_of(importers.begin(), importers.end(),
                     [&](const Importer* importer) { return may_be_named(*importer, path); });
}

bool is_named_as_input(const fs::path& path) {
  const auto importers = all_importers();
  return std::any_of(importers.begin(), importers.end(), [&](const Importer* importer) {
    return importer->counts_by_name && may_be_named(*importer, path);
  });
}

bool is_of(const Importer& importer, const fs::path& path) {
  const Result<Recognition> found = recognise_file(path);
  return found.ok() && found.value().importer == &importer;
}

// Of files in a folder: by name, or, where any file may have such a name, by content.
bool is_input(const fs::path& path) {
  const auto importers = all_importers();
  return std::any_of(importers.begin(), importers.end(), [&](const Importer* importer) {
    return may_be_named(*importer, path) && (importer->counts_by_name || is_of(*importer, path));
  });
}

// Of files in a run's folder: what is read beside it.
bool is_input_beside(const fs::path& path) {
  const auto importers = all_importers();
  return std::any_of(importers.begin(), importers.end(), [&](const Importer* importer) {
    return importer->read == nullptr && may_be_named(*importer, path) && is_of(*importer, path);
  });
}

// Surely one of another tool: run folders hold JSON of their own.
bool is_foreign_trace(const fs::path& path) {
  const auto importers = all_importers();
  if (std::none_of(importers.begin(), importers.end(), [&](const Importer* importer) {
        return importer->read != nullptr && may_be_named(*importer, path);
      }))
    return false;
  const Result<Recognition> found = recognise_file(path);
  return found.ok() && found.value().importer != &importers::run && found.value().importer->read != nullptr &&
         found.value().certainty >= Certainty::likely;
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
    const Result<Recognition> found = recognise_file(path);
    if (!found.ok()) return found.error();
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
    const Importer* const importer = found.value().importer;
    (importer->read == nullptr ? out_.beside : out_.files).push_back({path, importer, size});
    return {};
  }

  // In a folder, one bad file must not hide the good ones.
  void add_found(const fs::path& path) {
    const Status status = add_file(path);
    if (!status.ok())
      out_.warnings.push_back({"file_unreadable", status.error().message, rank_of_trace_file(path)});
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
    if (out_.start.command.empty()) out_.start = std::move(folder.value().start);
    take_end(folder.value().end);
    std::move(folder.value().warnings.begin(), folder.value().warnings.end(),
              std::back_inserter(out_.warnings));
    for (const fs::path& file : folder.value().rank_files) add_found(file);
    warn_of_others_in(path);
    warn_of_no_files_in(path);
    std::vector<fs::path> beside;
    std::error_code ignored;
    for (fs::directory_iterator at(path, ignored), end; !ignored && at != end; at.increment(ignored)) {
      std::error_code unreadable;
      if (at->is_regular_file(unreadable) && is_input_beside(at->path())) beside.push_back(at->path());
    }
    add_sorted(std::move(beside));
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

  // What stands in a run's folder under a name that would be read, and can't be: opening a named pipe would
  // wait for somebody to write into it. Ranks' files were told of when they were added.
  void warn_of_no_files_in(const fs::path& folder) {
    std::vector<fs::path> none;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code unknown;
      const fs::file_status status = at->status(unknown);
      if (fs::is_regular_file(status)) continue;
      if (run::is_side_file_name(at->path().filename().string()) ||
          (!fs::is_directory(status) && may_be_input(at->path())))
        none.push_back(at->path());
    }
    warn_of_no_files(std::move(none));
  }

  void warn_of_no_files(std::vector<fs::path> paths) {
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      const std::string name = path.string() + ": ";
      if (std::none_of(out_.warnings.begin(), out_.warnings.end(),
                       [&](const Warning& warning) { return warning.message.starts_with(name); }))
        out_.warnings.push_back({"file_unreadable", name + "not a regular file, and left out", kNoRank});
    }
  }

  // One is analyzed at a time; people gave the folder that they are in.
  static Error several_runs(const fs::path& folder, std::vector<fs::path> runs, std::size_t others) {
    const std::string what =
        fmt::format("{} in this folder{}", runs.size() == 1 ? "a run" : fmt::format("{} runs", runs.size()),
                    others == 0   ? ""
                    : others == 1 ? ", and a trace file that is part of no run"
                                  : fmt::format(", and {} trace files that are part of no run", others));
    return choose_one(folder, what, std::move(runs));
  }

  Status add_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> found, runs, no_files;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error),
         end;
         !error && at != end; at.increment(error)) {
      std::error_code ignored;
      if (at->is_directory(ignored) && run::is_run_folder(at->path())) {
        runs.push_back(at->path());
        at.disable_recursion_pending();
        continue;
      }
      if (at->is_directory(ignored)) continue;
      if (!at->is_regular_file(ignored)) {
        if (is_named_as_input(at->path())) no_files.push_back(at->path());
      } else if (is_input(at->path())) {
        found.push_back(at->path());
      }
    }
    if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
    if (runs.size() == 1 && found.empty()) return add_run(runs.front());
    if (!runs.empty()) return several_runs(folder, std::move(runs), found.size());
    if (found.empty())
      return Error{fmt::format("{}: nothing to analyze in this folder (no {}). {}", folder.string(),
                               names_of_files(), what_is_understood())};
    add_sorted(std::move(found));
    warn_of_no_files(std::move(no_files));
    return {};
  }

  InputFiles out_;
  std::set<fs::path> seen_;
};

}  // namespace

std::int32_t rank_of_trace_file(const std::filesystem::path& file) {
  const std::optional<NumberInName> found = number_in_file_name(file.filename().string());
  return file.extension() == ".lst" && found && found->says_rank && found->number < kMaxRanks ? found->number
                                                                                              : kNoRank;
}

Result<InputFiles> find_input_files(const std::vector<std::string>& paths) {
  if (paths.empty()) return Error{fmt::format("no input given. {}", what_is_understood())};
  Finder finder;
  for (const std::string& path : paths)
    if (const Status status = finder.add(path, paths.size() > 1); !status.ok()) return status.error();
  InputFiles found = finder.take();
  if (found.files.empty() && found.warnings.empty() && !found.beside.empty()) {
    const InputFile& first = found.beside.front();
    return Error{fmt::format("{}: {}", first.path.string(), first.importer->why_not_alone)};
  }
  return found;
}

}  // namespace lockstep::analyzer
