#include "analyzer/report/measure_words.h"

#include <fmt/format.h>

namespace lockstep::analyzer {
namespace {

std::string text_of(const PartOfModel& formula) {
  const std::string whole = formula.bytes == 1 ? "Ψ" : fmt::format("{}Ψ", formula.bytes);
  return formula.over == 1 ? whole : fmt::format("{}/{}", whole, formula.over);
}

std::string text_of(const SentByAllReduce& formula) {
  return fmt::format("2(n−1)/n × {}Ψ", formula.reduced);
}

std::string text_of(const SentWhereShared& formula) {
  if (!formula.over)
    return fmt::format("(n−1)/n × ({}Ψ reduced + {}Ψ gathered)", formula.reduced, formula.gathered);
  return fmt::format("(s−1)/s × ({0}Ψ reduced + {1}Ψ gathered) + 2(n−s)/n × {0}Ψ/s, s = {2}", formula.reduced,
                     formula.gathered, *formula.over);
}

std::string text_of(const SamplesOfStep& formula) {
  return fmt::format("B × n × accumulation = {} × {} × {}", formula.samples, formula.data_parallel,
                     formula.accumulation);
}

// Why nobody can tell which schedule it is.
std::string unknown_schedule_text(const PipelineReason& reason) {
  using Code = PipelineReason::Code;
  switch (reason.code) {
    case Code::passes_unknown:
      return "not every rank says which of its computations are forward and backward passes";
    case Code::microbatches_unnumbered:
      return "its microbatches are not numbered";
    case Code::chunks_differ:
      return fmt::format("stage {} has {} separate blocks of layers, another one {}", reason.stage,
                         reason.count, reason.of);
    case Code::backward_split:
      return "the gradients of its weights are computed apart from those of its inputs (zero bubble)";
    case Code::passes_missing:
      return fmt::format(
          "of stage {} the trace does not show each of {} microbatches once forward and once backward",
          reason.stage, reason.count);
    case Code::order_not_interleaved:
      return "the order of its passes is not that of interleaved 1F1B";
    case Code::order_unrecognised:
      return "the order of its passes is neither GPipe's nor 1F1B's";
    case Code::none:
    case Code::ranks_missing:
    case Code::activities_lost:
      break;
  }
  return {};
}

}  // namespace

std::string reason_text(const PipelineReason& reason) {
  switch (reason.code) {
    case PipelineReason::Code::none:
      return {};
    case PipelineReason::Code::ranks_missing:
      return fmt::format("{} of its {} ranks left no trace", reason.count, reason.of);
    case PipelineReason::Code::activities_lost:
      return "a part of a rank's file that held activities is damaged";
    default:
      return "its schedule is unknown: " + unknown_schedule_text(reason);
  }
}

std::string layer_name(const LayerReport& layer) {
  return layer.layer ? fmt::format("layer {}", *layer.layer) : layer.part;
}

const char* quantity_name(TheoryQuantity quantity) {
  switch (quantity) {
    case TheoryQuantity::parameters:
      break;
    case TheoryQuantity::gradients:
      return "gradients";
    case TheoryQuantity::optimizer_state:
      return "optimizer state";
    case TheoryQuantity::sent_by_collectives:
      return "sent by collectives";
    case TheoryQuantity::effective_batch:
      return "effective batch";
  }
  return "parameters";
}

const char* unit_of(TheoryQuantity quantity) {
  return quantity == TheoryQuantity::effective_batch ? "samples" : "bytes";
}

std::string scope_text(const TheoryReport& row) {
  if (row.rank) return fmt::format("rank {}", *row.rank);
  return row.quantity == TheoryQuantity::effective_batch ? "a step" : "a step and rank";
}

std::string formula_text(const TheoryFormula& formula) {
  return std::visit([](const auto& one) { return text_of(one); }, formula);
}

}  // namespace lockstep::analyzer
