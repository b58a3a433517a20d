#include "reference_trainer/modes/ddp/mode.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reference_trainer/modes/ddp/options.h"
#include "reference_trainer/options/flag_kinds.h"

namespace lockstep::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHeading = "Data parallel (--mode ddp)";
constexpr double kBytesPerMegabyte = 1024.0 * 1024.0;
constexpr double kLargestMegabytes = 1024.0 * 1024.0;

// In MiB for people, in bytes for the Reducer.
void add_megabytes(CLI::App& app, const char* flag, const char* help, std::int64_t& bytes) {
  const auto to_bytes = [](double megabytes) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(megabytes * kBytesPerMegabyte));
  };
  app.add_option_function<double>(
         flag, [&bytes, to_bytes](const double& megabytes) { bytes = to_bytes(megabytes); }, help)
      ->check(number(false, kLargestMegabytes))
      ->type_name("MIB")
      ->default_str(fmt::format("{}", static_cast<double>(bytes) / kBytesPerMegabyte))
      ->group(kHeading);
}

void add_flags(CLI::App& app, Options& options) {
  DdpOptions& ddp = options.own.get<DdpOptions>();
  add_megabytes(app, "--bucket-cap-mb",
                "Size (MiB) at which a gradient bucket is closed; PyTorch's default is 25", ddp.cap_bytes);
  add_megabytes(app, "--first-bucket-mb", "The same for the first bucket, which starts communication early",
                ddp.first_bytes);
  add_switch_off(app, "--no-gradient-as-bucket-view", "Gradients are copied back out of the buckets",
                 ddp.gradient_as_bucket_view)
      ->group(kHeading);
  app.add_flag("--find-unused-parameters", ddp.find_unused_parameters,
               "Look for parameters without a gradient before each backward; buckets are never rebuilt")
      ->group(kHeading);
}

Status check(const Options& options, int /*world_size*/) {
  if (options.own.get<DdpOptions>().find_unused_parameters && options.training.activation_checkpointing)
    return Error{
        "--find-unused-parameters looks for them in the graph of the whole forward pass, which "
        "--activation-checkpointing does not keep: leave one of them out"};
  return {};
}

Status check_single(const Options& /*options*/, int world_size) {
  if (world_size > 1)
    return Error{
        fmt::format("--mode single: this job has {} ranks; --mode ddp or fsdp shares the work", world_size)};
  return {};
}

void write_flags(const Options& options, int /*world_size*/, Json& flags) {
  const DdpOptions& ddp = options.own.get<DdpOptions>();
  // A division by a power of two, so that the same bytes come of it again.
  flags["first_bucket_mb"] = static_cast<double>(ddp.first_bytes) / kBytesPerMegabyte;
  flags["bucket_cap_mb"] = static_cast<double>(ddp.cap_bytes) / kBytesPerMegabyte;
  flags["no_gradient_as_bucket_view"] = !ddp.gradient_as_bucket_view;
  flags["find_unused_parameters"] = ddp.find_unused_parameters;
}

constinit const ModeFlags kFlags{.heading = kHeading, .add = add_flags};

}  // namespace

constinit const Mode Ddp::mode{.name = "ddp",
                               .flags = &kFlags,
                               .reduces_over_all_ranks = true,
                               .check = check,
                               .write_flags = write_flags};

constinit const Mode Single::mode{.name = "single", .check = check_single};

}  // namespace lockstep::trainer
