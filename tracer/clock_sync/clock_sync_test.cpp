#include "tracer/clock_sync/clock_sync.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/temporary_folder.h"
#include "tracer/protocol/environment.h"

namespace lockstep::tracer::clock_sync {
namespace {

using test::TemporaryFolder;

// A UDP port that is free now: nobody else is likely to take it before we do.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

// Bounded: ten seconds at most.
template <class Done>
bool wait_until(const Done& done) {
  for (int i = 0; i < 2000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done();
}

class ClockSyncTest : public testing::Test {
 protected:
  ClockSync::Options options(const std::string& clock, bool only_ask) const {
    ClockSync::Options options;
    options.address = {"127.0.0.1", port_, "test"};
    options.token = make_token("job");
    options.run = folder_.path();
    options.interval_ns = 20'000'000;
    options.only_ask = only_ask;
    options.clock = clock;
    return options;
  }
  std::vector<std::filesystem::path> clock_files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      files.push_back(entry.path());
    return files;
  }

  TemporaryFolder folder_;
  std::uint16_t port_ = free_port();
};

TEST_F(ClockSyncTest, TheOneTheAddressBelongsToAnswersAndTheOthersKeepWhatTheyHear) {
  {
    const ClockSync first(options("here", false));
    ASSERT_TRUE(wait_until([&] { return first.role() == Role::answers; }));
    const ClockSync other(options("there", true));
    ASSERT_TRUE(wait_until([&] { return other.exchanges() >= 3; }));
    EXPECT_EQ(other.role(), Role::asks);
    EXPECT_GE(first.answered(), other.exchanges());
  }
  const std::vector<std::filesystem::path> files = clock_files();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(is_clock_file_name(files[0].filename().string()));
  const nlohmann::json document = nlohmann::json::parse(test::read_whole_file(files[0]));
  EXPECT_EQ(document["format"], "lockstep.clock/1");
  EXPECT_EQ(document["clock"], "there");
  EXPECT_EQ(document["peer"], "here");
  ASSERT_GE(document["exchanges"].size(), 4u);  // and one more at the end
  for (const nlohmann::json& exchange : document["exchanges"]) {
    // One clock in truth: the four readings are in order.
    EXPECT_LE(exchange[0], exchange[1]);
    EXPECT_LE(exchange[1], exchange[2]);
    EXPECT_LE(exchange[2], exchange[3]);
  }
}

TEST_F(ClockSyncTest, WhoStartsEarlierGoesOnAsking) {
  const ClockSync other(options("there", true));
  ASSERT_TRUE(wait_until([&] { return other.role() == Role::asks; }));
  EXPECT_EQ(other.exchanges(), 0u);
  const ClockSync first(options("here", false));
  EXPECT_TRUE(wait_until([&] { return other.exchanges() >= 1; }));
}

TEST_F(ClockSyncTest, AnotherJobIsNotAnswered) {
  ClockSync::Options foreign = options("there", true);
  foreign.token = make_token("another job");
  const ClockSync first(options("here", false));
  ASSERT_TRUE(wait_until([&] { return first.role() == Role::answers; }));
  {
    const ClockSync other(foreign);
    const ClockSync ours(options("yonder", true));
    ASSERT_TRUE(wait_until([&] { return ours.exchanges() >= 3; }));
    EXPECT_EQ(other.exchanges(), 0u);
  }
  EXPECT_EQ(clock_files().size(), 1u);
}

TEST_F(ClockSyncTest, OneThatAsksItselfHasNothingToTell) {
  {
    const ClockSync first(options("here", false));
    const ClockSync again(options("here", true));
    ASSERT_TRUE(wait_until([&] { return again.exchanges() >= 1; }));
  }
  EXPECT_TRUE(clock_files().empty());
}

TEST_F(ClockSyncTest, AFileThatCantBeWrittenIsNamedAtTheEnd) {
  ClockSync::Options below_a_file = options("there", true);
  below_a_file.run = folder_.write("file", "");  // root may write to any folder
  ClockSync first(options("here", false));
  ASSERT_TRUE(wait_until([&] { return first.role() == Role::answers; }));
  ClockSync other(below_a_file);
  ClockSync well(options("yonder", true));
  ASSERT_TRUE(wait_until([&] { return other.exchanges() >= 1 && well.exchanges() >= 1; }));
  const Status ended = other.end();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "cannot write '" +
                                       (below_a_file.run / clock_file_name(host_name(), getpid())).string() +
                                       "': Not a directory");
  EXPECT_FALSE(other.end().ok()) << "the same again";
  EXPECT_TRUE(well.end().ok());
  EXPECT_TRUE(first.end().ok()) << "nothing to write";
}

TEST_F(ClockSyncTest, AHostThatDoesNotExistIsNoHarm) {
  ClockSync::Options nowhere = options("there", false);
  nowhere.address.host = "no-such-host.invalid";
  const ClockSync sync(nowhere);
  EXPECT_EQ(sync.exchanges(), 0u);
}

TEST(ClockFileName, IsOursOrNot) {
  EXPECT_EQ(clock_file_name("node 7", 4711), "clock-node_7-4711.json");
  EXPECT_TRUE(is_clock_file_name("clock-node-7-4711.json"));
  for (const char* name : {"clock-.json", "clock-node.json", "clock-node-.json", "clock-node-4x.json",
                           "clock--4.json", "xclock-a-4.json"})
    EXPECT_FALSE(is_clock_file_name(name)) << name;
}

}  // namespace
}  // namespace lockstep::tracer::clock_sync
