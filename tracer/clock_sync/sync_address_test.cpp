#include "tracer/clock_sync/sync_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace lockstep::tracer::clock_sync {
namespace {

using testing::HasSubstr;

std::string parsed(std::string_view text) {
  const Result<SyncAddress> address = parse_sync_address(text, 7);
  return address.ok() ? address.value().host + " " + std::to_string(address.value().port)
                      : "error: " + address.error().message;
}

TEST(SyncAddress, HostsAndPorts) {
  EXPECT_EQ(parsed("node0"), "node0 7");
  EXPECT_EQ(parsed("node0:29500"), "node0 29500");
  EXPECT_EQ(parsed("10.0.0.1:1"), "10.0.0.1 1");
  EXPECT_EQ(parsed("fe80::1"), "fe80::1 7");
  EXPECT_EQ(parsed("[fe80::1]:65535"), "fe80::1 65535");
  EXPECT_EQ(parsed("[fe80::1]"), "fe80::1 7");
}

TEST(SyncAddress, WhatIsWrongIsSaid) {
  EXPECT_THAT(parsed(""), HasSubstr("error: '' names no host"));
  EXPECT_THAT(parsed(":29500"), HasSubstr("names no host"));
  for (const char* text : {"node:0", "node:65536", "node:x", "node:", "[::1]:-1"})
    EXPECT_THAT(parsed(text), HasSubstr("the port must be a number from 1 to 65535")) << text;
  EXPECT_THAT(parsed("[::1"), HasSubstr("[ without a ]"));
  EXPECT_THAT(parsed("[::1]x"), HasSubstr("what follows ]"));
}

std::string found(const std::map<std::string, std::string>& environment,
                  const std::vector<std::string>& command = {}) {
  const auto lookup = [&](const char* name) -> const char* {
    const auto value = environment.find(name);
    return value == environment.end() ? nullptr : value->second.c_str();
  };
  const std::optional<SyncAddress> address = find_sync_address(lookup, command);
  return address ? address->host + ":" + std::to_string(address->port) + " " + address->from : "none";
}

TEST(SyncAddress, FoundWhereAJobNamesItsFirstHost) {
  EXPECT_EQ(found({}), "none");
  EXPECT_EQ(found({{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}}), "node0:29500 MASTER_ADDR");
  EXPECT_EQ(found({{"MASTER_ADDR", "node0"}}), "node0:29471 MASTER_ADDR");
  EXPECT_EQ(found({}, {"torchrun", "--nnodes", "2", "--rdzv-endpoint=node3:555", "t.py"}),
            "node3:555 --rdzv-endpoint");
  EXPECT_EQ(found({}, {"torchrun", "--rdzv_endpoint", "node3", "t.py"}), "node3:29471 --rdzv-endpoint");
  EXPECT_EQ(found({}, {"torchrun", "--master_addr", "node4", "--master-port=77", "t.py"}),
            "node4:77 --master-addr");
  EXPECT_EQ(found({{"SLURM_JOB_NUM_NODES", "4"}, {"SLURM_JOB_NODELIST", "gpu[007-010]"}}),
            "gpu007:29471 SLURM_JOB_NODELIST");
}

TEST(FlagValue, IsTheNextWordOrBehindEquals) {
  const std::vector<std::string> command{"torchrun", "--rdzv_id=7", "--node-rank", "1", "--nnodes"};
  EXPECT_EQ(flag_value(command, "--rdzv-id"), "7");
  EXPECT_EQ(flag_value(command, "--node-rank"), "1");
  EXPECT_EQ(flag_value(command, "--nnodes"), "") << "there is none";
  EXPECT_EQ(flag_value(command, "--master-addr"), "");
}

TEST(SyncAddress, OneHostNeedsNone) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_EQ(found({{"MASTER_ADDR", host}}), "none");
  EXPECT_EQ(found({}, {"torchrun", "--master-addr", "127.0.0.1", "t.py"}), "none");
  EXPECT_EQ(found({{"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_JOB_NODELIST", "gpu7"}}), "none");
}

TEST(SyncAddress, SlurmsNodeLists) {
  EXPECT_EQ(first_of_node_list("gpu7"), "gpu7");
  EXPECT_EQ(first_of_node_list("gpu7,gpu8"), "gpu7");
  EXPECT_EQ(first_of_node_list("gpu[7-12,15],login"), "gpu7");
  EXPECT_EQ(first_of_node_list("gpu[07]"), "gpu07");
  EXPECT_EQ(first_of_node_list("rack[1-2]n[03,05]"), "rack1n03");
  EXPECT_EQ(first_of_node_list("node[1-2]-ib"), "node1-ib");
  EXPECT_EQ(first_of_node_list("gpu[7"), "gpu7");
  EXPECT_EQ(first_of_node_list(""), "");
}

}  // namespace
}  // namespace lockstep::tracer::clock_sync
