// What happens when something is wrong: flags, data, files, ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ostream>

#include "reference_trainer/tests/trainer_process.h"

namespace lockstep::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Refusal {
  std::vector<std::string> arguments;
  std::string flag;
  std::string value;
};

// What test names show of it.
void PrintTo(const Refusal& refusal, std::ostream* stream) {
  *stream << refusal.flag << " " << refusal.value;
}

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithCodeTwoNamingFlagAndValue) {
  TrainerProcess process(GetParam().arguments);
  EXPECT_EQ(process.wait(), 2);
  EXPECT_EQ(process.output(), "");
  EXPECT_THAT(process.errors(), AllOf(HasSubstr(GetParam().flag), HasSubstr(GetParam().value)));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLines, Refused,
    ::testing::Values(
        Refusal{{"--hidden", "100", "--heads", "3"}, "--hidden", "100 is not a multiple of --heads 3"},
        Refusal{{"--data", "/no/such/file"}, "--data", "/no/such/file"},
        Refusal{{"--ranks", "3", "--batch-size", "999999"}, "--batch-size 999999", "too short"},
        Refusal{{"--ranks", "2", "--slow-rank", "2"}, "--slow-rank", "2"}),
    [](const auto& info) { return "Case" + std::to_string(info.index); });

TEST(Failure, TextShorterThanOneSequence) {
  const TemporaryFolder folder;
  write_file(folder.file("short"), "a few bytes");
  TrainerProcess process({"--data", folder.file("short"), "--ranks", "2"});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(),
              AllOf(HasSubstr(folder.file("short")), HasSubstr("11 bytes give 0 sequences of 64")));
}

TEST(Failure, RanksFlagContradictsLauncher) {
  TrainerProcess process(
      {"--ranks", "4"},
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(process.wait(), 2);
  EXPECT_THAT(process.errors(), AllOf(HasSubstr("--ranks 4"), HasSubstr("WORLD_SIZE=2")));
}

TEST(Failure, LogThatCannotBeWrittenEndsAllRanks) {
  TrainerProcess process({"--ranks", "2", "--log", "/no/such/folder/log"});
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(process.errors(),
              AllOf(HasSubstr("/no/such/folder/log"), HasSubstr("rank 0 exited with code 1")));
}

TEST(Failure, PortInUse) {
  const int taken = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  TrainerProcess process(
      {}, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}});
  EXPECT_EQ(process.wait(), 1);
  EXPECT_THAT(process.errors(),
              HasSubstr("port " + port + " of this host is taken: choose another MASTER_PORT"));
  close(taken);
}

}  // namespace
}  // namespace lockstep::trainer
