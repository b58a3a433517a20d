// A job as the viewer sees it, for tests: analyzed and prepared in memory. Of its report, what always holds
// is checked.
#pragma once

#include <memory>

#include "analyzer/analysis.h"
#include "analyzer/test_analysis.h"
#include "viewer/prepared/prepare.h"
#include "viewer/timeline/scene.h"

namespace lockstep::viewer {

inline std::unique_ptr<Scene> scene_of(const analyzer::Job& job, const analyzer::Analysis& analysis) {
  return Scene::load(prepare(job, analysis, TablesWriter::in_memory().value()).value()).value();
}
inline std::unique_ptr<Scene> scene_of(const analyzer::Job& job) {
  return scene_of(job, analyzer::checked_analysis(job));
}

}  // namespace lockstep::viewer
