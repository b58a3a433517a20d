#include "analyzer/import/run/training.h"

#include <optional>

#include "analyzer/import/rank/training_mark.h"

namespace lockstep::analyzer::run {

Status read_training(const trace::Reader& reader, RankImport& import) {
  std::optional<trace::StringId> last;
  Status status = reader.read<trace::Mark>(trace::Selection{}, [&](const trace::Mark& mark) {
    if (is_training_mark(reader.string(mark.name))) last = mark.name;
  });
  if (last) take_training_mark(reader.string(*last), import);
  return status;
}

}  // namespace lockstep::analyzer::run
