#include "reference_trainer/options/options.h"

#include "reference_trainer/options/mode.h"

namespace lockstep::trainer {

const char* to_string(Architecture architecture) {
  return architecture == Architecture::llama ? "llama" : "gpt2";
}

const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::float32:
      return "float32";
    case Precision::float64:
      return "float64";
    case Precision::bfloat16:
      return "bfloat16";
  }
  return "";
}

const char* to_string(Device device) {
  switch (device) {
    case Device::cpu:
      return "cpu";
    case Device::paced:
      return "paced";
    case Device::cuda:
      return "cuda";
  }
  return "";
}

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::automatic:
      return "automatic";
    case Transport::gloo:
      return "gloo";
    case Transport::nccl:
      return "nccl";
  }
  return "";
}

Transport transport_of(const Options& options, int local_ranks, int gpus) {
  if (options.transport != Transport::automatic) return options.transport;
  return local_ranks <= gpus && options.mode->can_use_nccl ? Transport::nccl : Transport::gloo;
}

MeshPlace place_of_replica(const Options& /*options*/, int world_size, int rank) {
  return {.replica = rank, .replicas = world_size};
}

}  // namespace lockstep::trainer
