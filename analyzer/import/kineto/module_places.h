// Modules of a profile that was taken with with_stack or with_modules: "nn.Module: Linear_0" is the first
// instance of its class that was called. Their names say no place in the model, so that is made of who called
// them.
#pragma once

#include <string_view>

#include "analyzer/import/rank/rank_import.h"

namespace lockstep::analyzer::kineto {

bool is_module(std::string_view name);

// "nn.Module: MLP_3" called by "nn.Module: GPT_0" becomes "GPT_0.MLP_3". The rank is finished.
void name_modules_by_place(RankImport& rank);

}  // namespace lockstep::analyzer::kineto
