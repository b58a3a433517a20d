#include "reference_trainer/model/llama_shape.h"

#include <fmt/format.h>

namespace lockstep::trainer {

int usual_kv_heads(int heads) {
  for (const int share : {4, 2}) {
    if (heads % share == 0) return heads / share;
  }
  return heads;
}

int usual_intermediate_size(int hidden) {
  constexpr int kMultiple = 16;
  const int exact = (8 * hidden + 2) / 3;  // rounded up
  return (exact + kMultiple - 1) / kMultiple * kMultiple;
}

Result<LlamaShape> llama_shape(int hidden, int heads, int kv_heads, int intermediate) {
  const LlamaShape shape{.hidden = hidden,
                         .heads = heads,
                         .kv_heads = kv_heads == 0 ? usual_kv_heads(heads) : kv_heads,
                         .intermediate = intermediate == 0 ? usual_intermediate_size(hidden) : intermediate};
  if (hidden % heads != 0)
    return Error{fmt::format("--hidden {} is not a multiple of --heads {}", hidden, heads)};
  if (shape.head_width() % 2 != 0)
    return Error{fmt::format(
        "--hidden {} / --heads {}: a head is {} wide, and the rotary embedding of --model llama turns pairs; "
        "choose an even width",
        hidden, heads, shape.head_width())};
  if (heads % shape.kv_heads != 0)
    return Error{
        fmt::format("--heads {} is not a multiple of --kv-heads {}: each key and value head serves "
                    "the same number of query heads",
                    heads, kv_heads)};
  return shape;
}

}  // namespace lockstep::trainer
