#include "analyzer/import/nccl_log/log_line.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::analyzer::nccl_log {
namespace {

TEST(LogLine, SaysWhoSpeaks) {
  const auto line = parse_info_line("node-0.rack:2130:2190 [3] NCCL INFO Connected all rings");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->host, "node-0.rack");
  EXPECT_EQ(line->process, 2130);
  EXPECT_EQ(line->thread, 2190);
  EXPECT_EQ(line->device, 3);
  EXPECT_EQ(line->message, "Connected all rings");
}

TEST(LogLine, WhatStandsBeforeItDoesNotMatter) {
  for (const char* before :
       {"[2026-01-02 03:04:05] ", "[default0]:", "[1,0]<stdout>:", "0: ", "[rank0] step 3 "}) {
    const std::string text = std::string(before) + "node0:1:2 [0] NCCL INFO x\r";
    const auto line = parse_info_line(text);
    ASSERT_TRUE(line) << before;
    EXPECT_EQ(line->host, "node0") << before;
    EXPECT_EQ(line->message, "x") << before;
  }
}

TEST(LogLine, WhatIsNoneIsLeftOut) {
  for (const char* text :
       {"", "epoch 3 loss 0.2", " NCCL INFO x", "node0:1:2 NCCL INFO x", "node0:1 [0] NCCL INFO x",
        "node0:one:2 [0] NCCL INFO x", "node0:1:2 [a] NCCL INFO x", "node0:-1:2 [0] NCCL INFO x",
        ":1:2 [0] NCCL INFO x", "node0:99999999999999999999:2 [0] NCCL INFO x", "node0:1:2 [0] NCCL WARN x"})
    EXPECT_FALSE(parse_info_line(text)) << text;
}

// Several processes that share their output: what belongs to whom cannot be told.
TEST(LogLine, SplicedLinesAreLeftOut) {
  EXPECT_FALSE(parse_info_line(
      "node0:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via NET/IB/0node0:2:3 [1] NCCL INFO x"));
}

TEST(LogLine, CommunicatorsOfEveryVersion) {
  const auto plain = parse_communicator("comm 0x7f10 rank 1 nranks 4 cudaDev 1 busId 1b000 - Init COMPLETE");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->complete);
  EXPECT_EQ(plain->address, "0x7f10");
  EXPECT_EQ(plain->rank, 1);
  EXPECT_EQ(plain->size, 4);
  EXPECT_FALSE(plain->id);

  const auto starts = parse_communicator(
      "[Rank 3] ncclCommInitRankConfig comm 0x8e rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 7000 commId "
      "0x49bbd7790311d5eb - Init START");
  ASSERT_TRUE(starts);
  EXPECT_FALSE(starts->complete);
  EXPECT_EQ(starts->rank, 3);
  EXPECT_EQ(starts->id, 0x49bbd7790311d5ebU);

  const auto split = parse_communicator(
      "ncclCommSplit comm 0x9 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 7000 parent 0x8e childCount 1 color "
      "5 key 0- Init START");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->size, 2);
  EXPECT_FALSE(split->id);
}

TEST(LogLine, ImpossibleCommunicatorsAreLeftOut) {
  for (const char* text :
       {"comm 0x7 rank 4 nranks 4 - Init COMPLETE", "comm 0x7 rank -1 nranks 4 - Init COMPLETE",
        "comm 0x7 rank 0 nranks 0 - Init COMPLETE", "comm 0x7 rank 0 nranks 99999999999 - Init COMPLETE",
        "comm 0x7 rank 0 - Init COMPLETE", "rank 0 nranks 4 - Init COMPLETE", "comm 0x7 rank 0 nranks 4"})
    EXPECT_FALSE(parse_communicator(text)) << text;
}

TEST(LogLine, ChannelsOfEveryVersion) {
  const auto sent =
      parse_channel("Channel 02/0 : 15[7] -> 0[0] [send] via NET/AWS Libfabric/0/GDRDMA/Shared");
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->channel, 2);
  EXPECT_EQ(sent->from, 15);
  EXPECT_EQ(sent->to, 0);
  EXPECT_FALSE(sent->received);
  EXPECT_EQ(sent->connection, "NET/AWS Libfabric/0/GDRDMA/Shared");
  const auto received = parse_channel("Channel 01 : 2[c7000] -> 0[87000] [receive] via NET/IB/5/GDRDMA");
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->received);
  EXPECT_EQ(received->from, 2);
  EXPECT_TRUE(parse_channel("Channel 09 : 6[6] -> 7[7] via SHM/direct/direct"));
  EXPECT_TRUE(parse_channel("Channel 00/1 : 6[6] -> 7[7] via P2P/direct pointer"));
}

TEST(LogLine, ImpossibleChannelsAreLeftOut) {
  for (const char* text :
       {"Channel 00/0 : 0[0] -> 0[0] via P2P/CUMEM", "Channel 00/0 : -1[0] -> 0[0] via P2P/CUMEM",
        "Channel 00/0 : 0[0] -> 1[1", "Channel 00/0 : 0[0] -> 1[1]",
        "Channel 00/0 : 0[] -> 1[1] via P2P/CUMEM", "Channel 00/0 : 99999999999[0] -> 1[1] via P2P/CUMEM",
        "Channel 00/02 :    0   1   2   3", "Channel 00/0 : 0[0] -> 1[1] via P2P/CU\x01MEM"})
    EXPECT_FALSE(parse_channel(text)) << text;
  EXPECT_FALSE(parse_channel("Channel 00/0 : 0[0] -> 1[1] via NET/" + std::string(200, 'x') + "/0"));
}

struct Expected {
  const char* text;
  Transport transport;
  std::optional<bool> gpu_direct;
  bool read;
  bool host_is_shared;
};

TEST(LogLine, NcclConnections) {
  for (const Expected& expected : {
           Expected{"P2P/CUMEM", Transport::p2p, {}, false, true},
           Expected{"P2P/CUMEM/read", Transport::p2p, {}, true, true},
           Expected{"P2P/IPC/read/CE", Transport::p2p, {}, true, true},
           Expected{"P2P/direct pointer", Transport::p2p, {}, false, true},
           Expected{"P2P/direct pointer/read", Transport::p2p, {}, true, true},
           Expected{"P2P/indirect/2[b2000]", Transport::p2p, {}, false, true},
           Expected{"P2P/MNNVL/read", Transport::p2p, {}, true, false},
           Expected{"SHM/direct", Transport::shared_memory, {}, false, true},
           Expected{"SHM/direct/direct", Transport::shared_memory, {}, false, true},
           Expected{"SHM/CE/direct", Transport::shared_memory, {}, false, true},
           Expected{"NET/Socket/0", Transport::net, false, false, false},
           Expected{"NET/Socket/0/Shared", Transport::net, false, false, false},
           Expected{"NET/IB/0/GDRDMA", Transport::net, true, false, false},
           Expected{"NET/IB/12(3)/GDRDMA(PCI)/Shared", Transport::net, true, false, false},
           Expected{"NET/IB/1(3)/Shared", Transport::net, false, false, false},
           Expected{"NET/AWS Libfabric/0/GDRDMA/Shared", Transport::net, true, false, false},
           Expected{"NET/A/B/7", Transport::net, false, false, false},
       }) {
    const std::optional<Connection> connection = parse_connection(expected.text);
    ASSERT_TRUE(connection) << expected.text;
    EXPECT_EQ(connection->transport, expected.transport) << expected.text;
    EXPECT_EQ(connection->gpu_direct, expected.gpu_direct) << expected.text;
    EXPECT_EQ(connection->read, expected.read) << expected.text;
    EXPECT_EQ(connection->host_is_shared, expected.host_is_shared) << expected.text;
  }
}

// Half a word of another line behind it would turn a network with GPUDirect into one without.
TEST(LogLine, WaysThatAreNotWholeAreLeftOut) {
  for (const char* text : {"", "NET", "NET/", "NET/IB", "NET/IB/", "NET//0", "NET/IB/0step 3", "NET/IB/0(3",
                           "NET/IB/-1", "SHM/", "P2P/", "COLLNET/SHARP/0", "p2p"})
    EXPECT_FALSE(parse_connection(text)) << text;
}

}  // namespace
}  // namespace lockstep::analyzer::nccl_log
