#include "viewer/opening/open_run.h"

#include <utility>

#include "analyzer/analysis.h"
#include "analyzer/open_job.h"
#include "viewer/opening/prepared_file.h"
#include "viewer/prepared/prepare.h"
#include "viewer/prepared/serialize.h"

namespace lockstep::viewer {

namespace {

Error stopped() {
  return Error{"stopped before it was open"};
}

Result<std::shared_ptr<const Tables>> prepare_anew(const std::vector<std::string>& paths,
                                                   const InputFiles& files, const OpenOptions& options) {
  const auto tell = [&options](OpeningStage stage, double done) {
    if (options.progress) options.progress(stage, done);
  };
  analyzer::ImportOptions reading;
  reading.keep_host_ranges = true;
  reading.progress = [&tell](std::uint64_t done, std::uint64_t total) {
    tell(OpeningStage::reading, total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total));
  };
  reading.stop = options.stop;
  if (options.preview && paths.size() == 1 && files.bytes >= kWorthKeeping) {
    Result<RunPreview> preview = preview_of(paths.front(), [&] { return options.stop.stop_requested(); });
    if (preview.ok()) options.preview(std::move(preview).value());
  }
  const Result<analyzer::Job> job = analyzer::open_job(paths, reading);
  if (!job.ok()) return job.error();
  if (options.stop.stop_requested()) return stopped();
  tell(OpeningStage::analyzing, 0);
  const Result<analyzer::Analysis> analysis = analyzer::analyze(job.value());
  if (!analysis.ok()) return analysis.error();
  const auto go_on = [&](double done) {
    tell(OpeningStage::preparing, done);
    return !options.stop.stop_requested();
  };
  if (options.keep && files.bytes >= kWorthKeeping) {
    Result<TablesWriter> file = TablesWriter::create(prepared_file_of(paths));
    if (file.ok()) {
      auto kept = prepare(job.value(), analysis.value(), std::move(file).value(), files.fingerprint, go_on);
      if (kept.ok()) return kept;
    }
  }
  if (options.stop.stop_requested()) return stopped();
  Result<TablesWriter> memory = TablesWriter::in_memory();
  if (!memory.ok()) return memory.error();
  return prepare(job.value(), analysis.value(), std::move(memory).value(), files.fingerprint, go_on);
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
    auto kept = Tables::open(prepared_file_of(paths), {layout_of_contents(), files.fingerprint});
    if (kept.ok()) {
      Result<std::unique_ptr<Scene>> scene = Scene::load(std::move(kept).value());
      if (scene.ok()) return scene;
    }
  }
  Result<std::shared_ptr<const Tables>> made = prepare_anew(paths, files, options);
  if (!made.ok()) return made.error();
  return Scene::load(std::move(made).value());
}

}  // namespace lockstep::viewer
