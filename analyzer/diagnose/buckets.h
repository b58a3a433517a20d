// The all-reduces of a training step as gradient buckets: how many, how large, when the first one starts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/job.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer {

struct BucketSteps {
  std::size_t steps = 0;
  DataType data_type = DataType::unknown;  // of the first one
  std::int64_t per_step = 0;               // median number of buckets in a step
  std::int64_t bytes_per_step = 0;         // median
  std::int64_t bucket_bytes = 0;           // median size of a bucket
  std::int64_t first_bytes = 0;            // median size of the step's first bucket
  double first_start = 0;  // median of: when the first one starts, 0 = step's begin, 1 = the last one starts
  std::int64_t transfer_ns = 0;        // Σ over buckets and ranks
  std::int64_t first_transfer_ns = 0;  // of that, the steps' first buckets
  std::int64_t all_transfer_ns = 0;    // Σ over all operations of the report
  // time = latency + bytes / bandwidth through the medians of the smallest and the largest size; only where
  // these differ by a factor of four and both are positive.
  std::optional<double> latency_ns, bytes_per_ns;
};

// Looks at the group whose all-reduces carry the most bytes; operations below 4 KiB are no buckets (a loss, a
// norm). Absent without steps or without known sizes.
std::optional<BucketSteps> look_at_buckets(const Report& report);

// Whether the program reduces its gradients by itself once it has them all: its all-reduces (as above) are
// handed over behind backward passes, and none within one. What makes buckets (DDP, DeepSpeed) does so as
// backward goes on, or at its end. False where ranges do not tell when backward passes ran, or nothing tells
// when operations were handed over.
bool are_reduced_behind_backward(const Job& job, const Report& report);

}  // namespace lockstep::analyzer
