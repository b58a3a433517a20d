#include "reference_trainer/options/flag_kinds.h"
#include "reference_trainer/options/flags.h"

namespace lockstep::trainer {

void add_job_flags(CLI::App& app, Options& options) {
  const char* group = kJobGroup;
  app.add_option("--ranks", options.ranks,
                 "Processes to start on this machine (default 1); not needed under torchrun")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->group(group);
  app.add_option("--timeout", options.timeout_seconds,
                 "Seconds that a rank waits for the others before it gives up")
      ->check(whole_number(1, kMillion))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
  app.add_option("--data", options.data,
                 "Text file, or folder of text files (default: this project's documentation)")
      ->type_name("PATH")
      ->group(group);
  app.add_option("--log", options.log, "Write configuration, buckets and each step as JSON lines")
      ->type_name("FILE")
      ->group(group);
}

void add_device_flags(CLI::App& app, Options& options) {
  const char* group = "Device";
  add_choice(
      app, "--device", "Where to compute; paced: small arithmetic that takes a modelled accelerator's time",
      {{"cpu", Device::cpu}, {"paced", Device::paced}, {"cuda", Device::cuda}}, "cpu", group, options.device);
  add_choice(
      app, "--backend",
      "What carries CUDA tensors; by default NCCL where each rank has a GPU of its own, else Gloo through "
      "the host's memory",
      {{"nccl", Transport::nccl}, {"gloo", Transport::gloo}}, "", group, options.transport);
  app.add_option("--threads", options.threads, "Threads that compute in each rank")
      ->check(whole_number(1, 1024))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option(
         "--flops", options.pace.flops_per_second,
         "Paced device: floating-point operations a second; the layers take their share, all else is free")
      ->check(number(false, 1e21))
      ->type_name("RATE")
      ->group(group);
  app.add_option("--jitter", options.pace.jitter,
                 "Paced device: each computation takes up to this share more or less, seeded by --seed")
      ->check(number(true, 0.99))
      ->type_name("SHARE")
      ->group(group);
  app.add_option("--bandwidth", options.pace.bytes_per_second,
                 "Paced device: bytes a second that a rank's link sends in a collective (default: no limit)")
      ->check(number(false, 1e18))
      ->type_name("RATE")
      ->group(group);
  app.add_option("--latency", options.pace.latency_us,
                 "Paced device: microseconds that a collective takes beside")
      ->check(number(true, 1e9))
      ->type_name("US")
      ->group(group);
}

}  // namespace lockstep::trainer
