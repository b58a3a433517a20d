#include "analyzer/import/run/computations.h"

#include "analyzer/import/rank/names.h"

namespace lockstep::analyzer::run {

std::uint32_t Computations::find(const trace::DeviceActivity& event) {
  Computation computation{event.layer, event.microbatch, Pass::other};
  if (event.pass <= Pass::optimizer) computation.pass = event.pass;
  if (computation.pass == Pass::other) {
    const auto [where, fresh] = passes_.emplace(event.name, Pass::other);
    if (fresh) where->second = pass_in_name(reader_.string(event.name));
    computation.pass = where->second;
  }
  if (computation == Computation{}) return kNone;
  const auto [where, fresh] = known_.emplace(computation, static_cast<std::uint32_t>(all_.size()));
  if (fresh) all_.push_back(computation);
  return where->second;
}

}  // namespace lockstep::analyzer::run
