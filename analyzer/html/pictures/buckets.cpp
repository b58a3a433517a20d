// The collectives of one kind in the order of a step: those of the first group that has any.
#include "analyzer/diagnose/finding_kind.h"
#include "analyzer/html/picture.h"
#include "analyzer/report/report.h"

namespace lockstep::analyzer::pictures {
namespace {

std::optional<PictureData> data_of(const PictureContext& context) {
  for (const BucketReport& bucket : context.report.buckets)
    if (bucket.operation == context.kind.bucket_operation)
      return PictureData{.collective = std::nullopt,
                         .members = {{"operation", to_string(bucket.operation)},
                                     {"group", context.groups.of(bucket.group_name, bucket.group_ranks)}}};
  return std::nullopt;
}

}  // namespace

extern const Picture buckets;
const Picture buckets{.name = "buckets", .data = data_of};

}  // namespace lockstep::analyzer::pictures
