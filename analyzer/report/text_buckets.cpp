// The table of buckets and layers: overlap of the collectives that come again in every step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/report/quantity.h"
#include "analyzer/report/report_sections.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/report/unicode.h"
#include "base/number_lists.h"

namespace lockstep::analyzer {
namespace {

constexpr std::size_t kMaxBuckets = 12;

// What a bucket costs; all its time where nobody knows how much of that was hidden.
double cost_of(const BucketReport& bucket) {
  return static_cast<double>(bucket.transfer_ns) + static_cast<double>(bucket.wait_ns.value_or(0)) -
         static_cast<double>(bucket.hidden_ns.value_or(0));
}

Line mean_cell(const BucketReport& bucket, std::optional<std::int64_t> ns) {
  return duration_cell(ns ? std::optional(bucket.mean(*ns)) : std::nullopt);
}

}  // namespace

std::vector<std::size_t> costliest_buckets(const Report& report, std::size_t most) {
  std::vector<std::size_t> order(report.buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return cost_of(report.buckets[a]) > cost_of(report.buckets[b]);
  });
  order.resize(std::min(order.size(), most));
  std::sort(order.begin(), order.end());
  return order;
}

std::string bucket_name(const BucketReport& bucket) {
  return bucket.name.empty() ? format_ordinal(bucket.position + 1) : to_valid_utf8(bucket.name);
}

namespace {

// Whether two of them are of one operation and name: then their groups alone tell them apart.
bool look_alike(const Report& report, const std::vector<std::size_t>& shown) {
  std::set<std::pair<trace::Operation, std::string>> seen;
  return !std::ranges::all_of(shown, [&](std::size_t index) {
    const BucketReport& bucket = report.buckets[index];
    return seen.emplace(bucket.operation, bucket_name(bucket)).second;
  });
}

// Of groups of one name, by their ranks too where names alone are not enough.
std::string bucket_group(const BucketReport& bucket, bool with_ranks, const PageOptions& page) {
  constexpr std::size_t kWide = 120;
  const bool ascii = page.ascii;
  const std::string name =
      bucket.group_name.empty() ? std::string() : fmt::format("\"{}\"", printable(bucket.group_name));
  if (!with_ranks) return fit(name, 20, ascii);
  const std::string ranks = fit(number_ranges(bucket.group_ranks, ascii ? "-" : "–"), 12, ascii);
  return name.empty() ? ranks : fmt::format("{} {}", fit(name, page.width < kWide ? 12 : 20, ascii), ranks);
}

void print_buckets(const Report& report, const TextOptions& /*options*/, Page& page) {
  if (report.buckets.empty()) return;
  print_heading(page, sections::buckets.title,
                "each kind in the order of a step; means of one operation on one rank");
  const bool ascii = page.options().ascii;
  const std::vector<std::size_t> shown = costliest_buckets(report, kMaxBuckets);
  const bool groups =
      std::any_of(report.buckets.begin(), report.buckets.end(), [&](const BucketReport& bucket) {
        return bucket.group_name != report.buckets.front().group_name ||
               bucket.group_ranks != report.buckets.front().group_ranks;
      });
  const bool alike = groups && look_alike(report, shown);
  Table table({{"operation", false, 0},
               {"which", false, 0},
               {groups ? "group" : "", false, alike ? 0 : 5},
               {"size", true, 3},
               {"count", true, 4},
               {"waits", true, 0},
               {"transfer", true, 0},
               {"hidden", true, 1},
               {"exposed transfer", true, 1},
               {"exposed wait", true, 2}});
  for (const std::size_t index : shown) {
    const BucketReport& bucket = report.buckets[index];
    table.add_row({Line{}.text(trace::to_string(bucket.operation)),
                   Line{}.text(fit(printable(bucket_name(bucket)), 24, ascii)),
                   groups ? Line{}.dim(bucket_group(bucket, alike, page.options())) : Line{},
                   bucket.bytes ? Line{}.text(format_bytes(*bucket.bytes)) : Line{}.dim(kAbsent),
                   Line{}.dim(format_count(bucket.count)), mean_cell(bucket, bucket.wait_ns),
                   mean_cell(bucket, bucket.transfer_ns), mean_cell(bucket, bucket.hidden_ns),
                   mean_cell(bucket, bucket.exposed_transfer_ns), mean_cell(bucket, bucket.exposed_wait_ns)});
  }
  table.print(page, 2);
  if (report.buckets.size() > shown.size())
    page.add(Line{}.text("  ").dim(
        fmt::format("… {} more, each with less exposed: --json FILE", report.buckets.size() - shown.size())));
}

constexpr auto kTextBucketsMembers = std::to_array<std::string_view>({"buckets"});

}  // namespace

constinit const ReportSection sections::buckets{
    .id = "buckets",
    .title = "layers and buckets",
    .on_page = "buckets",
    .json = kTextBucketsMembers,
    .print = print_buckets,
};

}  // namespace lockstep::analyzer
