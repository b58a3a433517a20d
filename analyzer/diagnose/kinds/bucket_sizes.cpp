// Gradients travel in too few pieces, or in too many, or the first one leaves late.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diagnose/buckets.h"
#include "analyzer/diagnose/finding_context.h"
#include "analyzer/diagnose/finding_kinds.h"
#include "analyzer/diagnose/knobs.h"
#include "analyzer/report/quantity.h"

namespace lockstep::analyzer {
namespace {

constexpr auto kBucketsTooLargeRemedies =
    std::to_array<Remedy>({{"DDP", "bucket_cap_mb: a quarter of what it is, 25 by default"},
                           {"DeepSpeed", "reduce_bucket_size (elements): a quarter of what it is"},
                           {"Megatron", "--ddp-bucket-size"}});
constexpr Explanation kBucketsTooLargeExplained{
    .meaning =
        "A bucket leaves when its last gradient is there. With one or two of them the last ends long after "
        "backward.",
    .found =
        "At most 2 all-reduces a step, of 2 MiB and more in the mean; the exposed transfer that compute could "
        "cover, but for an eighth of all (a last small piece has nothing to hide behind), reaches 5 %. Only where three steps at least have them, and where all-reduces of known size are three "
        "quarters of all transfer; those below 4 KiB are no buckets, and do not count. Not where the program "
        "itself reduces its gradients behind backward: then pieces of no size are hidden (no_overlap).",
    .wrong = "Smaller buckets do not shorten the step: then starts cost what overlap gains.",
    .lost = "the exposed transfer that compute could cover, without that of a last small piece",
    .remedies = kBucketsTooLargeRemedies,
};
constexpr FindingKind kBucketsTooLarge{
    .code = "buckets_too_large",
    .title = "gradients travel in so few pieces that backward cannot hide them",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_reduce,
    .says_nothing_is_hidden = true,
    .explanation = &kBucketsTooLargeExplained,
};
constexpr auto kBucketsTooSmallRemedies =
    std::to_array<Remedy>({{"DDP", "a larger bucket_cap_mb"}, {"DeepSpeed", "a larger reduce_bucket_size"}});
constexpr Explanation kBucketsTooSmallExplained{
    .meaning = "Each all-reduce costs a start, whatever its size.",
    .found =
        "16 all-reduces a step and more, whose start (the line through the smallest and the largest size, at "
        "no bytes) costs more than moving their bytes; the starts that 8 a step would save reach 3 %. Only "
        "where buckets of three steps at least are three quarters of all transfer, as of buckets_too_large.",
    .wrong = "The sizes do not explain the durations: look at the table of collectives.",
    .lost = "the starts saved with 8 a step",
    .remedies = kBucketsTooSmallRemedies,
};
constexpr FindingKind kBucketsTooSmall{
    .code = "buckets_too_small",
    .title = "gradients travel in so many pieces that starting them takes longer than moving them",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_reduce,
    .explanation = &kBucketsTooSmallExplained,
};
constexpr auto kFirstBucketLateRemedies = std::to_array<Remedy>(
    {{"DDP",
      "static_graph=True, or the order of parameters as they are used; find_unused_parameters=False; its "
      "first bucket is 1 MiB by design (dist._DEFAULT_FIRST_BUCKET_BYTES)"}});
constexpr Explanation kFirstBucketLateExplained{
    .meaning = "Nothing travels while most of backward runs, and then everything at once.",
    .found =
        "The first all-reduce is at least as large as the median one, and starts after 70 % of the time "
        "until the last one starts; its exposed transfer reaches 3 %. Only where buckets of three steps at "
        "least are three quarters of all transfer, and not where the program itself reduces its gradients "
        "behind backward, as of buckets_too_large.",
    .wrong =
        "The first gradients that are ready are not in the first bucket because the model runs in another "
        "order: DDP learns that after its first step.",
    .lost = "its exposed transfer",
    .remedies = kFirstBucketLateRemedies,
};
constexpr FindingKind kFirstBucketLate{
    .code = "first_bucket_late",
    .title = "the first gradient bucket is large, so that communication starts late in backward",
    .cause = Cause::transfer,
    .accounts = Accounts::yes,
    .accuses = Accused::job,
    .points_at = PointsAt::worst_operation,
    .picture = "buckets",
    .bucket_operation = Operation::all_reduce,
    .explanation = &kFirstBucketLateExplained,
};
constexpr auto kBucketSizesKinds =
    std::to_array<const FindingKind*>({&kBucketsTooLarge, &kBucketsTooSmall, &kFirstBucketLate});

// One or two steps may be like no other: DDP lays out its buckets anew after the first one.
constexpr std::size_t kLeastSteps = 3;
constexpr std::int64_t kOverlapPermille = 50;
constexpr std::int64_t kBucketPermille = 30;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kFewBuckets = 2;
constexpr std::int64_t kManyBuckets = 16;
constexpr std::int64_t kGoodBuckets =
    8;  // enough that the last one's tail is short, few enough that latency is not felt
constexpr double kLateFirstStart = 0.7;  // backward begins at about a third

std::int64_t whole_mebibytes(double bytes) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(bytes / kMebibyte)));
}

std::string describe_buckets(const BucketSteps& buckets) {
  // DDP's first bucket is small on purpose.
  const bool alike =
      format_bytes(buckets.bucket_bytes * buckets.per_step) == format_bytes(buckets.bytes_per_step);
  return fmt::format("{} a step, {} {}, {} in all (medians of {})",
                     format_plural(buckets.per_step, "all_reduce"), format_bytes(buckets.bucket_bytes),
                     alike ? "each" : "the median one", format_bytes(buckets.bytes_per_step),
                     format_plural(static_cast<std::int64_t>(buckets.steps), "step"));
}

void find_large_buckets(const FindingContext& context, const BucketSteps& buckets,
                        std::vector<Finding>& findings) {
  // Of two pieces the median is the smaller one: in the mean they are large, or not.
  if (buckets.per_step > kFewBuckets || buckets.bytes_per_step < buckets.per_step * 2 * kMebibyte) return;
  // The last piece has no computation left to hide behind, however small the pieces are.
  const std::int64_t lost =
      std::min(context.coverable_transfer(), buckets.transfer_ns) - buckets.transfer_ns / kGoodBuckets;
  if (!context.is_worth(lost, kOverlapPermille)) return;
  Finding finding = kBucketsTooLarge.make();
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("{} of transfer is exposed that compute could cover, without that of a last small piece",
                  format_duration(lost))};
  finding.remedy = bucket_size_knobs(
      whole_mebibytes(static_cast<double>(buckets.bytes_per_step) / kGoodBuckets), buckets.data_type);
  finding.remedy += ". The gradient of a weight that is larger travels whole";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

void find_small_buckets(const FindingContext& context, const BucketSteps& buckets,
                        std::vector<Finding>& findings) {
  if (buckets.per_step < kManyBuckets || !buckets.latency_ns) return;
  const double latency = *buckets.latency_ns;
  const double transfer = static_cast<double>(buckets.bucket_bytes) / *buckets.bytes_per_ns;
  if (latency < transfer) return;
  const double saved_a_step = latency * static_cast<double>(buckets.per_step - kGoodBuckets);
  const double saved = saved_a_step * static_cast<double>(buckets.steps * context.report.ranks.size());
  const auto lost = static_cast<std::int64_t>(std::min(saved, static_cast<double>(context.moving_ns())));
  if (!context.is_worth(lost, kBucketPermille)) return;
  Finding finding = kBucketsTooSmall.make();
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("starting one costs {}, moving {} costs {} (through the smallest and the largest size)",
                  format_duration(std::llround(latency)), format_bytes(buckets.bucket_bytes),
                  format_duration(std::llround(transfer)))};
  finding.remedy =
      bucket_size_knobs(whole_mebibytes(std::max(static_cast<double>(buckets.bytes_per_step) / kGoodBuckets,
                                                 4 * latency * *buckets.bytes_per_ns)),
                        buckets.data_type);
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

void find_late_first_bucket(const FindingContext& context, const BucketSteps& buckets,
                            std::vector<Finding>& findings) {
  if (buckets.per_step <= kFewBuckets || buckets.first_bytes < buckets.bucket_bytes) return;
  if (buckets.first_bytes < 2 * kMebibyte || buckets.first_start < kLateFirstStart) return;
  const std::int64_t lost = std::min(context.coverable_transfer(), buckets.first_transfer_ns);
  if (!context.is_worth(lost, kBucketPermille)) return;
  Finding finding = kFirstBucketLate.make();
  finding.evidence = {
      describe_buckets(buckets),
      fmt::format("the first one holds {} and starts after {} of the time until the last one starts",
                  format_bytes(buckets.first_bytes), format_share(buckets.first_start))};
  finding.remedy =
      "torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = 1 << 20 before wrapping the model, `lockstep train "
      "--first-bucket-mb 1`; DeepSpeed has no first bucket of its own: a smaller reduce_bucket_size";
  finding.lost_ns = lost;
  findings.push_back(std::move(finding));
}

void find_bucket_sizes(const FindingContext& context, std::vector<Finding>& findings) {
  const std::optional<BucketSteps> buckets = look_at_buckets(context.report);
  if (!buckets || buckets->steps < kLeastSteps) return;
  // Other operations move as much: then the buckets are not what is exposed.
  if (buckets->transfer_ns < buckets->all_transfer_ns - buckets->all_transfer_ns / 4) return;
  // Too many pieces cost their starts wherever they travel.
  find_small_buckets(context, *buckets, findings);
  if (are_reduced_behind_backward(context.diagnosis.job, context.report)) return;
  find_large_buckets(context, *buckets, findings);
  find_late_first_bucket(context, *buckets, findings);
}

}  // namespace

const FindingRule rules::bucket_sizes{kBucketSizesKinds, find_bucket_sizes};

}  // namespace lockstep::analyzer
