// The sizes of a Llama layer, and what they have to obey. No torch: the command line is checked with it.
#pragma once

#include "base/result.h"

namespace lockstep::trainer {

struct LlamaShape {
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;      // key and value heads, each shared by heads / kv_heads query heads
  int intermediate = 0;  // width inside the SwiGLU

  int head_width() const { return hidden / heads; }
};

// As in Llama 3: a quarter of the heads; half of them, or all, where that is no whole number.
int usual_kv_heads(int heads);
// 8/3 of the width, so that the three matrices of a SwiGLU weigh as much as the two of an MLP of 4 times the
// width; rounded up to a multiple of 16.
int usual_intermediate_size(int hidden);

// 0 for kv_heads or intermediate: the usual one. An error names the flags.
Result<LlamaShape> llama_shape(int hidden, int heads, int kv_heads, int intermediate);

}  // namespace lockstep::trainer
