#include "analyzer/import/nccl_log/nccl_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/import/test_files.h"

namespace lockstep::analyzer::nccl_log {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "0 -> 1 of 2: SHM/direct/direct, 2 channels"
std::string text_of(const ChannelPath& path) {
  return fmt::format("{}{} -> {} of {}: {}, {} channels{}", path.ranks_are_global ? "" : "local ", path.from,
                     path.to, path.communicator_size, path.connection, path.channels,
                     !path.same_host   ? ""
                     : *path.same_host ? ", one host"
                                       : ", two hosts");
}

struct Read {
  std::vector<std::string> paths;
  std::vector<Warning> warnings;
};

Read read(const std::vector<std::string>& files, std::int32_t world_size,
          const std::vector<JobGroup>& groups = {}) {
  Log log;
  for (std::size_t i = 0; i < files.size(); ++i) log.add_text(files[i], fmt::format("nccl.{}.log", i));
  Read result;
  for (const ChannelPath& path : log.take_paths(world_size, groups, result.warnings))
    result.paths.push_back(text_of(path));
  return result;
}

std::string line(const std::string& host, int process, const std::string& message, int thread = 0) {
  return fmt::format("{}:{}:{} [0] NCCL INFO {}\n", host, process, thread == 0 ? process + 1 : thread,
                     message);
}
std::string communicator(const std::string& host, int process, int rank, int size, const char* end,
                         unsigned id = 0xabc) {
  return line(
      host, process,
      fmt::format("ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev 0 nvmlDev 0 busId 1000 commId "
                  "0x{:x} - Init {}",
                  id * 16, rank, size, id, end));
}
std::string channel(const std::string& host, int process, int number, int from, int to,
                    const std::string& connection, int thread = 0) {
  return line(host, process, fmt::format("Channel {:02}/0 : {}[0] -> {}[0]{}", number, from, to, connection),
              thread);
}

TEST(NcclLog, ChannelsAreOfTheCommunicatorThatIsMade) {
  std::string log = "NCCL version 2.21.5+cuda12.4\n" + communicator("a", 10, 0, 2, "START");
  for (const int number : {0, 1}) log += channel("a", 10, number, 0, 1, " via SHM/direct/direct");
  log += communicator("a", 10, 0, 2, "COMPLETE");
  const Read result = read({log}, 2);
  EXPECT_THAT(result.paths, ElementsAre("0 -> 1 of 2: SHM/direct/direct, 2 channels, one host"));
  EXPECT_THAT(result.warnings, IsEmpty());
}

// NCCL up to 2.17 names a communicator only when it is made.
TEST(NcclLog, OldVersionsNameItBehindItsChannels) {
  const std::string log = channel("a", 10, 0, 0, 1, " via P2P/IPC") + communicator("a", 10, 0, 2, "COMPLETE");
  EXPECT_THAT(read({log}, 2).paths, ElementsAre("0 -> 1 of 2: P2P/IPC, 1 channels, one host"));
}

// NCCL from 2.22 on connects at the first operation, on another thread.
TEST(NcclLog, ConnectedLaterChannelsAreOfTheOnlyCommunicatorThatFits) {
  const std::string log = communicator("a", 10, 0, 2, "START") + communicator("a", 10, 0, 2, "COMPLETE") +
                          channel("a", 10, 3, 0, 1, " via P2P/CUMEM", 99);
  EXPECT_THAT(read({log}, 2).paths, ElementsAre("0 -> 1 of 2: P2P/CUMEM, 1 channels, one host"));
}

TEST(NcclLog, WhereSeveralFitItIsSaid) {
  const std::string log =
      communicator("a", 10, 0, 4, "COMPLETE", 1) + communicator("a", 10, 0, 2, "COMPLETE", 2) +
      channel("a", 10, 0, 0, 1, " via P2P/CUMEM", 99) + channel("a", 10, 0, 0, 3, " via SHM/direct", 99);
  const Read result = read({log}, 4);
  EXPECT_THAT(result.paths, ElementsAre("0 -> 3 of 4: SHM/direct, 1 channels, one host"))
      << "2 has no rank 3";
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "nccl_log_ambiguous");
  EXPECT_THAT(result.warnings[0].message, testing::HasSubstr("NCCL_RUNTIME_CONNECT=0"));
}

TEST(NcclLog, BothEndsAreOnePathAndTellTheHosts) {
  const std::string one = communicator("a", 10, 0, 2, "START") +
                          channel("a", 10, 0, 0, 1, " [send] via NET/IB/0/GDRDMA") +
                          communicator("a", 10, 0, 2, "COMPLETE");
  const std::string other =
      communicator("b", 10, 1, 2, "START") + channel("b", 10, 0, 0, 1, " [receive] via NET/IB/0/GDRDMA") +
      channel("b", 10, 1, 0, 1, " [receive] via NET/IB/0/GDRDMA") + communicator("b", 10, 1, 2, "COMPLETE");
  const auto expected = ElementsAre("0 -> 1 of 2: NET/IB/0/GDRDMA, 2 channels, two hosts");
  EXPECT_THAT(read({one, other}, 2).paths, expected);
  EXPECT_THAT(read({other, one}, 2).paths, expected);
  EXPECT_THAT(read({one}, 2).paths, ElementsAre("0 -> 1 of 2: NET/IB/0/GDRDMA, 1 channels"))
      << "where the other is nobody says";
}

// Processes that share one file, line by line.
TEST(NcclLog, InterleavedProcessesAreToldApart) {
  const std::string log = communicator("a", 10, 0, 2, "START") + communicator("a", 20, 1, 2, "START") +
                          channel("a", 20, 0, 1, 0, " via SHM/direct") + "epoch 1\r\n" +
                          channel("a", 10, 0, 0, 1, " via P2P/CUMEM");
  EXPECT_THAT(read({log}, 2).paths, ElementsAre("0 -> 1 of 2: P2P/CUMEM, 1 channels, one host",
                                                "1 -> 0 of 2: SHM/direct, 1 channels, one host"));
}

// The ranks of a smaller communicator are known by its processes' ranks in the whole job's.
TEST(NcclLog, SmallerCommunicatorsBecomeTheJobsRanks) {
  std::vector<std::string> files;
  for (const int rank : {1, 3}) {
    const int inner = rank / 2;
    files.push_back(communicator("a", 10 + rank, rank, 4, "START", 1) +
                    communicator("a", 10 + rank, rank, 4, "COMPLETE", 1) +
                    communicator("a", 10 + rank, inner, 2, "START", 2) +
                    channel("a", 10 + rank, 0, inner, 1 - inner, " via SHM/direct") +
                    communicator("a", 10 + rank, inner, 2, "COMPLETE", 2));
  }
  EXPECT_THAT(read(files, 4).paths, ElementsAre("1 -> 3 of 2: SHM/direct, 1 channels, one host",
                                                "3 -> 1 of 2: SHM/direct, 1 channels, one host"));
}

TEST(NcclLog, AGroupNamedAfterTheCommunicatorTellsItsMembers) {
  const std::string log =
      communicator("a", 10, 0, 2, "START", 0x77) + channel("a", 10, 0, 0, 1, " via SHM/direct");
  JobGroup group;
  group.name = "nccl 0x0000000000000077";
  group.ranks = {4, 6};
  EXPECT_THAT(read({log}, 8, {group}).paths, ElementsAre("4 -> 6 of 2: SHM/direct, 1 channels, one host"));
  EXPECT_THAT(read({log}, 8).paths, ElementsAre("local 0 -> 1 of 2: SHM/direct, 1 channels, one host"));
}

TEST(NcclLog, ChannelsThatCannotBeTheCommunicatorsAreLeftOut) {
  const std::string log = communicator("a", 10, 0, 2, "START") + channel("a", 10, 0, 1, 0, " via P2P/CUMEM") +
                          channel("a", 10, 0, 0, 7, " via P2P/CUMEM");
  EXPECT_THAT(read({log}, 2).paths, IsEmpty());
}

// "NET/IB/0" may be the beginning of "NET/IB/0/GDRDMA".
TEST(NcclLog, ALineThatIsNotEndedIsLeftOut) {
  std::string log = communicator("a", 10, 0, 2, "START") + channel("a", 10, 0, 0, 1, " [send] via NET/IB/0");
  EXPECT_THAT(read({log}, 2).paths, testing::SizeIs(1));
  log.pop_back();
  EXPECT_THAT(read({log}, 2).paths, IsEmpty());
}

TEST(NcclLog, VeryLongLinesAreLeftOutAndEndWhereTheyEnd) {
  const std::string log = communicator("a", 10, 0, 2, "START") + std::string(1 << 20, 'x') + '\n' +
                          channel("a", 10, 0, 0, 1, " via P2P/CUMEM");
  EXPECT_THAT(read({log}, 2).paths, testing::SizeIs(1));
}

TEST(NcclLog, WithoutChannelsItSaysWhatIsMissing) {
  const Read result = read({"NCCL version 2.21.5+cuda12.4\n"}, 2);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "nccl_log_without_channels");
  EXPECT_THAT(result.warnings[0].message, testing::HasSubstr("NCCL_DEBUG=INFO"));
}

TEST(NcclLog, ALargerJobsLogIsSaidToBeOne) {
  const std::string log = communicator("a", 10, 0, 8, "START") + channel("a", 10, 0, 0, 1, " via P2P/CUMEM");
  const Read result = read({log}, 2);
  EXPECT_THAT(result.paths, ElementsAre("local 0 -> 1 of 8: P2P/CUMEM, 1 channels, one host"));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].code, "nccl_log_of_more_ranks");
}

TEST(NcclLog, IsRecognisedByItsLines) {
  EXPECT_TRUE(recognises("NCCL version 2.21.5+cuda12.4\n"));
  EXPECT_TRUE(recognises("Epoch 0\n[2026-01-01 10:00:00] a:1:2 [0] NCCL INFO Bootstrap\nmore"));
  EXPECT_FALSE(recognises(""));
  EXPECT_FALSE(recognises("{\"traceEvents\": [{\"name\": \"NCCL INFO\"}]}"));
  EXPECT_FALSE(recognises("lines\nof any\nother output\n"));
}

TEST(NcclLog, PackedAndDamagedFiles) {
  const TemporaryFolder folder;
  const std::string log = communicator("a", 10, 0, 2, "START") + channel("a", 10, 0, 0, 1, " via P2P/CUMEM");
  const std::string packed = gzip(log);
  folder.write("whole.log.gz", packed);
  folder.write("cut.log.gz", packed.substr(0, packed.size() - 12));
  for (const char* name : {"whole.log.gz", "cut.log.gz"}) {
    Log reader;
    std::vector<Warning> warnings;
    ASSERT_TRUE(reader.add_file(folder / name).ok());
    (void)reader.take_paths(2, {}, warnings);
    EXPECT_EQ(find_warning(warnings, "file_damaged") != nullptr, std::string(name) == "cut.log.gz") << name;
  }
  EXPECT_FALSE(Log().add_file(folder / "missing.log").ok());
}

// Random bytes, random cuts and random changes of a real log: whatever comes out can be.
TEST(NcclLogProperty, WhateverIsReadIsPossible) {
  std::string whole;
  for (const int rank : {0, 1, 2, 3}) {
    whole += communicator("a", rank, rank, 4, "START", 1);
    for (const int number : {0, 1, 2}) {
      whole += channel("a", rank, number, rank, (rank + 1) % 4, " [send] via NET/AWS Libfabric/0/GDRDMA");
      whole += channel("a", rank, number, (rank + 3) % 4, rank, " [receive] via NET/Socket/0");
      whole += channel("a", rank, number, rank, (rank + 2) % 4, " via P2P/CUMEM/read", 77);
    }
    whole += communicator("a", rank, rank, 4, "COMPLETE", 1);
  }
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::string text = whole;
    for (std::uint32_t change = random() % 40; change > 0; --change) {
      const std::size_t at = random() % text.size();
      const std::size_t length = std::min<std::size_t>(random() % 30, text.size() - at - 1);
      if (random() % 3 == 0)
        text.erase(at, length);
      else if (random() % 2 == 0)
        text.insert(at, text.substr(random() % text.size(), length));
      else
        text[at] = static_cast<char>(random());
    }
    Log log;
    log.add_text(text.substr(0, random() % text.size()), "one");
    log.add_text(text, "two");
    std::vector<Warning> warnings;
    for (const ChannelPath& path : log.take_paths(4, {}, warnings)) {
      EXPECT_GE(path.from, 0) << seed;
      EXPECT_GE(path.to, 0) << seed;
      EXPECT_LT(path.from, std::max(path.communicator_size, 4)) << seed;
      EXPECT_LT(path.to, std::max(path.communicator_size, 4)) << seed;
      EXPECT_NE(path.from, path.to) << seed;
      EXPECT_GE(path.channels, 1) << seed;
      EXPECT_EQ(path.gpu_direct.has_value(), path.transport == Transport::net) << seed << path.connection;
    }
  }
}

}  // namespace
}  // namespace lockstep::analyzer::nccl_log
