#include "viewer/opening/open_run.h"

#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/import/rank/communication_patterns.h"
#include "analyzer/import/rank/rank_import.h"
#include "analyzer/open_job.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/opening/return_memory.h"
#include "viewer/prepared/prepare.h"
#include "viewer/prepared/serialize.h"

namespace lockstep::viewer {

namespace {

Error stopped() {
  return Error{"stopped before it was open"};
}

// Of the files, and of how they are read.
std::uint64_t fingerprint_of(const InputFiles& files, const OpenOptions& options) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t how = static_cast<std::uint64_t>(options.clocks) * kOdd;
  if (options.all_steps) how = (how ^ 1) * kOdd;
  if (options.cycle != 0) how = (how ^ static_cast<std::uint64_t>(options.cycle)) * kOdd;
  if (options.communication) how = (how ^ std::hash<std::string>{}(options.communication->identity())) * kOdd;
  return files.fingerprint ^ how;
}

using Prepared = std::shared_ptr<const Tables>;

// What the reader of a run is told, from whichever thread, one call at a time.
class Listener {
 public:
  explicit Listener(const OpenOptions& options) : options_(options) {}

  void tell(OpeningStage stage, double done) {
    const std::lock_guard lock(mutex_);
    if (options_.progress) options_.progress(stage, done);
  }
  void show(RunPreview preview) {
    const std::lock_guard lock(mutex_);
    options_.preview(std::move(preview));
  }
  // A rank has been read, of files that have no index. Each time that a sixteenth more of them are there they
  // are shown, so that many of them cost no more than a few.
  void add(RankPreview rank) {
    const std::lock_guard lock(mutex_);
    ranks_.push_back(std::move(rank));
    if (ranks_.size() < next_) return;
    next_ = ranks_.size() + 1 + ranks_.size() / 16;
    options_.preview(assemble(ranks_));
  }
  void forget_ranks() { ranks_ = {}; }

 private:
  const OpenOptions& options_;
  std::mutex mutex_;
  std::vector<RankPreview> ranks_;
  std::size_t next_ = 1;
};

Result<analyzer::Job> read(const std::vector<std::string>& paths, const InputFiles& files,
                           const OpenOptions& options, Listener& listener) {
  analyzer::ImportOptions reading;
  reading.keep_host_ranges = true;
  reading.communication = options.communication;
  reading.cycle = options.cycle;
  reading.stop = options.stop;
  reading.progress = [&listener](std::uint64_t done, std::uint64_t total) {
    listener.tell(OpeningStage::reading,
                  total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
  if (options.preview && files.bytes >= kWorthKeeping) {
    Result<RunPreview> preview =
        paths.size() == 1 ? preview_of(paths.front(), [&] { return options.stop.stop_requested(); })
                          : Error{"several paths"};
    if (preview.ok()) {
      listener.show(std::move(preview).value());
    } else {
      reading.rank_read = [&listener](const analyzer::RankImport& rank) { listener.add(preview_of(rank)); };
    }
  }
  Result<analyzer::Job> job = analyzer::open_job(paths, reading, options.clocks);
  listener.forget_ranks();
  return job;
}

struct Analyzed {
  analyzer::Analysis analysis;
  std::optional<Preparation> kept;  // what takes no analysis is in it already; none: there is no file for it
};

// Prepares what takes no analysis, which is most of it, on a thread of its own.
class RecordedBeside {
 public:
  RecordedBeside(const analyzer::Job& job, Preparation& preparation, const std::stop_token& stop) {
    const auto work = [&job, &preparation, stop, enough = enough_.get_token()] {
      prepare_recorded(job, preparation,
                       [&](double) { return !stop.stop_requested() && !enough.stop_requested(); });
    };
    try {
      work_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      work();  // no more threads to be had
    }
  }
  // Where nobody waits for it, it ends soon; the future's end waits for that.
  ~RecordedBeside() { enough_.request_stop(); }
  RecordedBeside(const RecordedBeside&) = delete;
  RecordedBeside& operator=(const RecordedBeside&) = delete;

  void wait() {
    if (work_.valid()) work_.get();
  }

 private:
  std::stop_source enough_;
  std::future<void> work_;
};

Result<Analyzed> analyze_and_prepare(const analyzer::Job& job, std::optional<TablesWriter> file,
                                     const OpenOptions& options, Listener& listener) {
  std::optional<Preparation> preparation;
  std::optional<RecordedBeside> recorded;
  if (file) {
    preparation.emplace(std::move(*file));
    recorded.emplace(job, *preparation, options.stop);
  }
  analyzer::AnalysisOptions analyzing;
  analyzing.progress = [&listener](double done) { listener.tell(OpeningStage::analyzing, done); };
  analyzing.stop = options.stop;
  analyzing.steady = !options.all_steps;
  Result<analyzer::Analysis> analysis = analyzer::analyze(job, analyzing);
  if (!analysis.ok()) return analysis.error();
  if (recorded) recorded->wait();
  return Analyzed{std::move(analysis).value(), std::move(preparation)};
}

std::optional<TablesWriter> file_for(const std::vector<std::string>& paths, const InputFiles& files,
                                     const OpenOptions& options) {
  if (!options.keep || files.bytes < kWorthKeeping) return std::nullopt;
  Result<TablesWriter> file = TablesWriter::create(prepared_file_of(paths));
  if (!file.ok()) return std::nullopt;
  return std::move(file).value();
}

Result<Prepared> prepare_anew(const std::vector<std::string>& paths, const InputFiles& files,
                              const OpenOptions& options) {
  Listener listener(options);
  const Result<analyzer::Job> job = read(paths, files, options, listener);
  if (!job.ok()) return job.error();
  if (options.stop.stop_requested()) return stopped();
  Result<Analyzed> analyzed =
      analyze_and_prepare(job.value(), file_for(paths, files, options), options, listener);
  if (!analyzed.ok()) return analyzed.error();
  const analyzer::Analysis& analysis = analyzed.value().analysis;
  const std::uint64_t fingerprint = fingerprint_of(files, options);
  const auto go_on = [&](double done) {
    listener.tell(OpeningStage::preparing, done);
    return !options.stop.stop_requested();
  };
  if (analyzed.value().kept) {
    Result<Prepared> kept =
        prepare_analyzed(job.value(), analysis, *analyzed.value().kept, fingerprint, go_on);
    if (kept.ok()) return kept;
  }
  if (options.stop.stop_requested()) return stopped();
  analyzed.value().kept.reset();  // the disk is full: its unfinished file only takes room
  Result<TablesWriter> memory = TablesWriter::in_memory();
  if (!memory.ok()) return memory.error();
  return prepare(job.value(), analysis, std::move(memory).value(), fingerprint, go_on);
}

}  // namespace

const char* to_string(OpeningStage stage) {
  switch (stage) {
    case OpeningStage::reading:
      return "reading";
    case OpeningStage::analyzing:
      return "analyzing";
    case OpeningStage::preparing:
      return "preparing";
  }
  return "";
}

Result<std::unique_ptr<Scene>> open_run(const std::vector<std::string>& paths, const OpenOptions& options) {
  return open_run(paths, look_at(paths), options);
}

Result<std::unique_ptr<Scene>> open_run(const std::vector<std::string>& paths, const InputFiles& files,
                                        const OpenOptions& options) {
  if (options.keep && files.bytes >= kWorthKeeping) {
    auto kept = Tables::open(prepared_file_of(paths), {layout_of_contents(), fingerprint_of(files, options)});
    if (kept.ok()) {
      Result<std::unique_ptr<Scene>> scene = Scene::load(std::move(kept).value());
      if (scene.ok()) return scene;
    }
  }
  Result<Prepared> made = prepare_anew(paths, files, options);
  // The job that was read is gone by now.
  return_memory();
  if (!made.ok()) return made.error();
  return Scene::load(std::move(made).value());
}

}  // namespace lockstep::viewer
