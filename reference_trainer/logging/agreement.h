// What every rank of a job has to be told alike. Each publishes it where the ranks meet; who differs is
// refused there, because later it would train something else in silence, or break a connection in the middle.
#pragma once

#include <string>

#include "reference_trainer/data/text.h"
#include "reference_trainer/options/options.h"

namespace lockstep::trainer {

// One line of JSON: the flags and DeepSpeed's configuration as the log has them, but what each rank may have
// for itself: threads, patience, and paths. Of the text its length and a checksum, since each host may keep
// it elsewhere.
std::string shared_configuration(const Options& options, int world_size, const Text& text);

// "rank 1 has --hidden 64, rank 0 has 32: give all ranks the same flags": the first thing in which rank
// `rank`'s configuration differs from rank 0's; empty where nothing does.
std::string disagreement(const std::string& of_rank_0, const std::string& of_rank, int rank);

}  // namespace lockstep::trainer
