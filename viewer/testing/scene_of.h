// A job as the viewer sees it, for tests and benchmarks: analyzed and prepared in memory.
#pragma once

#include <memory>

#include "analyzer/analysis.h"
#include "viewer/prepared/prepare.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

inline std::unique_ptr<Scene> scene_of(const analyzer::Job& job, const analyzer::Analysis& analysis) {
  return Scene::load(prepare(job, analysis, TablesWriter::in_memory().value()).value()).value();
}
inline std::unique_ptr<Scene> scene_of(const analyzer::Job& job) {
  return scene_of(job, analyzer::analyze(job).value());
}

}  // namespace lockstep::viewer
