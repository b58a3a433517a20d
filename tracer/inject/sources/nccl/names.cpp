#include "tracer/inject/sources/nccl/names.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace lockstep::tracer::nccl {

namespace {

using trace::DataType;
using trace::Operation;

using NamedOperation = std::pair<const char*, Operation>;
constexpr auto kFunctions = std::to_array<NamedOperation>({
    {"AllReduce", Operation::all_reduce},
    {"AllGather", Operation::all_gather},
    {"ReduceScatter", Operation::reduce_scatter},
    {"Send", Operation::send},
    {"Recv", Operation::recv},
    {"SendRecv", Operation::send_recv},
    {"Broadcast", Operation::broadcast},
    {"Reduce", Operation::reduce},
    {"AlltoAll", Operation::all_to_all},
    {"AllToAll", Operation::all_to_all},  // RCCL's spelling
    {"AllToAllv", Operation::all_to_all},
    {"AllGatherV", Operation::all_gather},
    {"Gather", Operation::gather},
    {"Scatter", Operation::scatter},
});

constexpr std::array kNumberedFunctions{
    Operation::broadcast,  Operation::reduce,    Operation::all_gather, Operation::reduce_scatter,
    Operation::all_reduce, Operation::send_recv, Operation::send,       Operation::recv};

// In the order of ncclDataType_t.
using NamedDataType = std::pair<const char*, DataType>;
constexpr auto kDataTypes = std::to_array<NamedDataType>({
    {"ncclInt8", DataType::int8},
    {"ncclUint8", DataType::uint8},
    {"ncclInt32", DataType::int32},
    {"ncclUint32", DataType::uint32},
    {"ncclInt64", DataType::int64},
    {"ncclUint64", DataType::uint64},
    {"ncclFloat16", DataType::float16},
    {"ncclFloat32", DataType::float32},
    {"ncclFloat64", DataType::float64},
    {"ncclBfloat16", DataType::bfloat16},
    {"ncclFloat8e4m3", DataType::float8_e4m3},
    {"ncclFloat8e5m2", DataType::float8_e5m2},
});

// In the order of NCCL's numbers, which begin with 0.
constexpr std::array kAlgorithms{"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                 "NVLS_TREE", "PAT"};
constexpr std::array kProtocols{"LL", "LL128", "SIMPLE"};

template <class Names>
std::uint8_t number_of(const char* name, const Names& names) noexcept {
  if (name == nullptr) return 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::strcmp(name, names[i]) == 0) return static_cast<std::uint8_t>(i + 1);
  }
  return 0;
}

template <class Pairs, class Value>
Value value_of(const char* name, const Pairs& pairs, Value otherwise) noexcept {
  if (name == nullptr) return otherwise;
  for (const auto& [text, value] : pairs) {
    if (std::strcmp(name, text) == 0) return value;
  }
  return otherwise;
}

}  // namespace

Operation operation_of(const char* function) noexcept {
  return value_of(function, kFunctions, Operation::unknown);
}

Operation operation_of(std::uint8_t function_number) noexcept {
  return function_number < kNumberedFunctions.size() ? kNumberedFunctions[function_number]
                                                     : Operation::unknown;
}

DataType data_type_of(const char* name) noexcept {
  return value_of(name, kDataTypes, DataType::unknown);
}

DataType data_type_of(std::uint8_t number) noexcept {
  return number < kDataTypes.size() ? kDataTypes[number].second : DataType::unknown;
}

std::uint8_t algorithm_of(const char* name) noexcept {
  return number_of(name, kAlgorithms);
}

std::uint8_t algorithm_of(std::uint8_t number) noexcept {
  return number < kAlgorithms.size() ? static_cast<std::uint8_t>(number + 1) : std::uint8_t{0};
}

std::uint8_t protocol_of(const char* name) noexcept {
  return number_of(name, kProtocols);
}

std::uint8_t protocol_of(std::uint8_t number) noexcept {
  return number < kProtocols.size() ? static_cast<std::uint8_t>(number + 1) : std::uint8_t{0};
}

std::string_view algorithm_name(std::uint8_t algorithm) noexcept {
  if (algorithm == kCopyEngine) return "COPY_ENGINE";
  return algorithm >= 1 && algorithm <= kAlgorithms.size() ? kAlgorithms[algorithm - 1U] : "";
}

std::string_view protocol_name(std::uint8_t protocol) noexcept {
  return protocol >= 1 && protocol <= kProtocols.size() ? kProtocols[protocol - 1U] : "";
}

std::string_view call_name(Operation operation) noexcept {
  switch (operation) {
    case Operation::all_reduce:
      return "ncclAllReduce";
    case Operation::all_gather:
      return "ncclAllGather";
    case Operation::reduce_scatter:
      return "ncclReduceScatter";
    case Operation::all_to_all:
      return "ncclAlltoAll";
    case Operation::broadcast:
      return "ncclBroadcast";
    case Operation::reduce:
      return "ncclReduce";
    case Operation::gather:
      return "ncclGather";
    case Operation::scatter:
      return "ncclScatter";
    case Operation::send:
      return "ncclSend";
    case Operation::recv:
      return "ncclRecv";
    case Operation::send_recv:
      return "ncclSendRecv";
    case Operation::barrier:
    case Operation::unknown:
      break;
  }
  return "nccl operation";
}

Operation operation_of_call(std::string_view range_name) noexcept {
  if (!range_name.starts_with("nccl")) return Operation::unknown;
  range_name.remove_prefix(4);
  for (const auto& [text, operation] : kFunctions) {
    if (range_name == text) return operation;
  }
  return Operation::unknown;
}

bool counts_one_part(Operation operation) noexcept {
  return operation == Operation::all_gather || operation == Operation::reduce_scatter ||
         operation == Operation::all_to_all || operation == Operation::gather ||
         operation == Operation::scatter;
}

std::uint64_t larger_side(Operation operation, std::uint64_t bytes, std::int32_t ranks) noexcept {
  if (!counts_one_part(operation)) return bytes;
  std::uint64_t all = 0;
  if (ranks <= 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(ranks), &all)) return 0;
  return all;
}

}  // namespace lockstep::tracer::nccl
