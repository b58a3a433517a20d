// Asking traced processes, and what their answers mean. Whole jobs: tests/end_to_end/record_attach_test.cpp.
#include "tracer/recorder/attach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/temporary_folder.h"
#include "tracer/inject/control/endpoint.h"
#include "tracer/protocol/environment.h"
#include "tracer/recorder/hang_watch.h"
#include "tracer/recorder/run_folder.h"

namespace lockstep::tracer::record {
namespace {

namespace fs = std::filesystem;
using control::Endpoint;
using control::Request;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class AttachTest : public testing::Test {
 protected:
  // Asks while the endpoint is served as the writer thread would.
  std::vector<Answer> ask(Endpoint& endpoint, const std::string& request) {
    std::vector<Answer> answers;
    std::atomic<bool> done = false;
    std::thread asker([&] {
      answers = ask_all(run_, request, 60'000);
      done = true;
    });
    while (!done) {
      endpoint.serve([&](Request asked) {
        asked_.push_back(asked);
        return std::string("rank=3\tstep=17\trecording=no\twhy=stopped");
      });
      usleep(1000);
    }
    asker.join();
    return answers;
  }
  const test::TemporaryFolder temporary_;
  fs::path run_ = temporary_.path();
  std::vector<Request> asked_;
};

TEST_F(AttachTest, AnswersAreRead) {
  Endpoint endpoint;
  ASSERT_TRUE(endpoint.open(run_.string(), "rank-3", host_name()));
  const std::vector<Answer> answers = ask(endpoint, "stop");
  EXPECT_THAT(asked_, testing::ElementsAre(Request::stop));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].problem, "");
  EXPECT_EQ(answers[0].process, getpid());
  EXPECT_EQ(answers[0].number("step"), 17);
  EXPECT_THAT(table_of(answers, "status"), HasSubstr("no: stopped"));
  struct stat status {};
  ASSERT_EQ(stat((run_ / "control" / "rank-3.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  endpoint.close();
  EXPECT_TRUE(fs::is_empty(run_ / "control"));
  remove_control_folder(run_);
  EXPECT_FALSE(fs::exists(run_ / "control"));
}

TEST_F(AttachTest, LongPathsHaveTheirSocketElsewhere) {
  run_ = run_ / std::string(100, 'x') / std::string(100, 'y');
  fs::create_directories(run_);
  Endpoint endpoint;
  ASSERT_TRUE(endpoint.open(run_.string(), "rank-0", host_name()));
  EXPECT_FALSE(fs::exists(run_ / "control" / "rank-0.sock"));
  EXPECT_THAT(ask(endpoint, "status"), SizeIs(1));
  EXPECT_THAT(asked_, testing::ElementsAre(Request::status));
  std::ifstream note(run_ / "control" / "rank-0");
  std::string line, socket;
  while (std::getline(note, line))
    if (line.starts_with("socket=")) socket = line.substr(7);
  EXPECT_TRUE(fs::is_socket(socket));
  endpoint.close();
  EXPECT_FALSE(fs::exists(fs::path(socket).parent_path()));
  run_ = run_.parent_path().parent_path();
}

TEST_F(AttachTest, WhatADeadProcessLeftIsRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    auto* endpoint = new Endpoint;
    _exit(endpoint->open(run_.string(), "rank-1", host_name()) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(fs::exists(run_ / "control" / "rank-1"));
  EXPECT_THAT(ask_all(run_, "status", 1000), SizeIs(0));
  EXPECT_TRUE(fs::is_empty(run_ / "control"));
}

TEST_F(AttachTest, ASilentProcessIsNotWaitedForLong) {
  Endpoint endpoint;
  ASSERT_TRUE(endpoint.open(run_.string(), "rank-3", host_name()));
  const std::vector<Answer> answers = ask_all(run_, "status", 50);  // nobody serves
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0].problem, HasSubstr("no answer"));
}

TEST_F(AttachTest, OtherHostsAreNotAsked) {
  fs::create_directory(run_ / "control");
  std::ofstream(run_ / "control" / "rank-9") << "host=elsewhere\nprocess=1\nsocket=/no/such\n";
  const std::vector<Answer> answers = ask_all(run_, "status", 50);
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_TRUE(answers[0].elsewhere);
  EXPECT_THAT(table_of(answers, "status"), HasSubstr("on elsewhere: ask there"));
  remove_control_folder(run_);
  EXPECT_TRUE(fs::exists(run_ / "control" / "rank-9")) << "another host's";
}

TEST_F(AttachTest, AClosedDescriptorIsLeftToItsNewOwner) {
  const pid_t child = fork();
  if (child == 0) {
    auto* endpoint = new Endpoint;
    if (!endpoint->open(run_.string(), "rank-0", host_name())) _exit(1);
    // The job closes everything, and opens something of its own under the same numbers.
    std::vector<int> own;
    for (int number = 3; number < 64; ++number) close(number);
    for (int i = 0; i < 8; ++i) own.push_back(dup(2));
    if (endpoint->is_open()) _exit(2);
    endpoint->serve([](Request) { return std::string("never"); });
    endpoint->close();
    for (const int number : own) {
      if (close(number) != 0) _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

Answer silent_for(const std::string& name, std::int64_t silent, std::int64_t progress = 5) {
  Answer answer;
  answer.name = name;
  answer.fields = {{"progress", std::to_string(progress)}, {"silent_ns", std::to_string(silent)}};
  return answer;
}

TEST(Table, SaysHowLongAProcessHasBeenSilent) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto table = [](const Answer& answer) { return table_of({answer}, "status"); };
  EXPECT_THAT(table(silent_for("rank-0", 12 * kSecond)), HasSubstr(", silent for 12.0 s"));
  EXPECT_THAT(table(silent_for("rank-0", 5 * kSecond)), Not(HasSubstr("silent")));
  EXPECT_THAT(table(silent_for("rank-0", 60 * kSecond, 0)), Not(HasSubstr("silent"))) << "it has not begun";
}

// Whoever may write into the run folder chooses what is in a control file.
TEST(Table, LetsNothingSpeakToTheTerminal) {
  Answer elsewhere;
  elsewhere.name = "rank-0";
  elsewhere.host = "node\x1b[31m7";
  elsewhere.elsewhere = true;
  Answer failed;
  failed.name = "rank-1";
  failed.problem = "no\u009B31m disk";
  Answer stopped;
  stopped.name = "rank-2";
  stopped.fields = {{"recording", "no"}, {"why", "as\x1b]0;asked\x07"}};
  const std::string table = table_of({elsewhere, failed, stopped}, "status");
  EXPECT_THAT(table, HasSubstr("on node\\x1B[31m7: ask there\n"));
  EXPECT_THAT(table, HasSubstr("no\\x9B31m disk\n"));
  EXPECT_THAT(table, HasSubstr("no: as\\x1B]0;asked\\x07\n"));
}

TEST(Table, OfASnapshotSaysWhatWasWritten) {
  Answer full;
  full.name = "rank-0";
  full.fields = {{"recording", "yes"}, {"written", "4100"}};
  Answer empty = full;
  empty.name = "rank-1";
  empty.fields["written"] = "0";
  Answer stopped;
  stopped.name = "rank-2";
  stopped.problem = "no answer";
  const std::string table = table_of({full, empty, stopped}, "snapshot");
  EXPECT_THAT(table, ContainsRegex("rank-0 .* written: 4.1 kB\n"));
  EXPECT_THAT(table, ContainsRegex("rank-1 .* nothing was held\n"));
  EXPECT_THAT(table, ContainsRegex("rank-2 .* no answer\n"));
}

TEST(Hang, IsSilenceOfAllRanks) {
  EXPECT_FALSE(is_hang({}, 100));
  EXPECT_TRUE(is_hang({silent_for("rank-0", 100), silent_for("rank-1", 200)}, 100));
  EXPECT_FALSE(is_hang({silent_for("rank-0", 99), silent_for("rank-1", 200)}, 100));
  EXPECT_FALSE(is_hang({silent_for("rank-0", 100, 0)}, 100)) << "it has not begun";
  // Helpers of ranks show no progress of their own.
  EXPECT_TRUE(is_hang({silent_for("rank-0", 100), silent_for("proc-a-1", 5)}, 100));
  EXPECT_TRUE(is_hang({silent_for("proc-a-1", 100)}, 100));
  Answer stopped;
  stopped.name = "rank-1";
  stopped.problem = "no answer";
  EXPECT_TRUE(is_hang({silent_for("rank-0", 100), stopped}, 100));
  EXPECT_FALSE(is_hang({stopped}, 100)) << "nothing is known";
}

TEST(Hang, OneSignOfLifeIsNoGoingOn) {
  SilenceWatch watch;
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 0, 9)})) << "nothing was silent";
  watch.begin({silent_for("rank-0", 100, 5), silent_for("rank-1", 100, 5)});
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 200, 5), silent_for("rank-1", 200, 5)}));
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 1, 6), silent_for("rank-1", 300, 5)}));
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 90, 6), silent_for("rank-1", 400, 5)}));
  EXPECT_TRUE(watch.goes_on({silent_for("rank-0", 1, 8), silent_for("rank-1", 1, 9)}));
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 1, 10), silent_for("rank-1", 1, 11)})) << "said once";
}

TEST(Hang, AJobWhoseProcessesEndDoesNotGoOn) {
  SilenceWatch watch;
  watch.begin({silent_for("rank-0", 100, 5), silent_for("rank-1", 100, 5)});
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 1, 6), silent_for("rank-1", 1, 6)}));
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 1, 7)}));
  EXPECT_FALSE(watch.goes_on({silent_for("rank-0", 1, 8), silent_for("rank-1", 1, 9)}));
  EXPECT_FALSE(watch.goes_on({}));
}

TEST_F(AttachTest, WhatWasWrittenOfAnEarlierHangIsKept) {
  const auto write = [&](const std::string& text) { std::ofstream(run_ / "hang-rank-0.json") << text; };
  const auto read = [&](const std::string& name) {
    std::string text;
    std::ifstream(run_ / name) >> text;
    return text;
  };
  keep_earlier_hang(run_, "rank-0");
  EXPECT_FALSE(fs::exists(run_ / "hang-1-rank-0.json"));
  for (const char* text : {"first", "second"}) {
    write(text);
    keep_earlier_hang(run_, "rank-0");
    EXPECT_FALSE(fs::exists(run_ / "hang-rank-0.json"));
  }
  EXPECT_EQ(read("hang-1-rank-0.json"), "first");
  EXPECT_EQ(read("hang-2-rank-0.json"), "second");
  EXPECT_TRUE(is_run_file_name("hang-1-rank-0.json"));
  EXPECT_TRUE(is_run_file_name("hang-rank-0.json"));
  EXPECT_FALSE(is_run_file_name("hang-1-.json"));
  EXPECT_FALSE(is_run_file_name("hang-over.json"));
  for (int i = 0; i < 20; ++i) {
    write("more");
    keep_earlier_hang(run_, "rank-0");
  }
  EXPECT_TRUE(fs::exists(run_ / "hang-9-rank-0.json"));
  EXPECT_FALSE(fs::exists(run_ / "hang-10-rank-0.json"));
}

}  // namespace
}  // namespace lockstep::tracer::record
