#include "tracer/recorder/job_programs.h"

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep::tracer::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

#if defined(__aarch64__)
constexpr std::uint16_t kHere = EM_AARCH64;
#else
constexpr std::uint16_t kHere = EM_X86_64;
#endif

std::string program(unsigned char bits, std::uint16_t processor, const std::string& loader) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = bits;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = processor;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_INTERP;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = loader.size() + 1;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return bytes.append(loader).append(1, '\0');
}

// A folder that looks like /proc.
class JobProgramsTest : public testing::Test {
 protected:
  JobProgramsTest() {
    std::filesystem::create_directories(proc_ / "self/ns");
    for (const char* network : {"here", "elsewhere"}) std::ofstream(folder_ / network) << network;
    std::filesystem::create_symlink(folder_ / "here", proc_ / "self/ns/net");
    add_program("plain", program(ELFCLASS64, kHere, "/lib64/ld-linux-x86-64.so.2"));
    add_program("small", program(ELFCLASS32, EM_386, ""));
    add_program("foreign", program(ELFCLASS64, EM_S390, "/lib/ld64.so.1"));
    add_program("alpine", program(ELFCLASS64, kHere, "/lib/ld-musl-x86_64.so.1"));
    add_program("script", "#!/bin/sh\n");
  }

  void add_program(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  void add_process(pid_t process, pid_t parent, const std::string& name, const char* network = "here") {
    const std::filesystem::path path = proc_ / std::to_string(process);
    std::filesystem::create_directories(path / "ns");
    std::ofstream(path / "stat") << fmt::format("{} (a) name) S {} 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 {} 7",
                                                process, parent, 1000 + process);
    become(process, name);
    std::filesystem::create_symlink(folder_ / network, path / "ns/net");
  }
  void become(pid_t process, const std::string& name) {
    const std::filesystem::path path = proc_ / std::to_string(process) / "exe";
    std::filesystem::remove(path);
    std::filesystem::create_symlink(folder_ / name, path);
  }
  static std::vector<std::pair<pid_t, std::string>> found(const JobPrograms& programs) {
    std::vector<std::pair<pid_t, std::string>> all;
    for (const JobPrograms::Process& process : programs.found())
      all.emplace_back(process.process, process.reason);
    return all;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path proc_ = folder_ / "proc";
};

constexpr const char* kSmall = "it is a 32-bit program, and Lockstep's library is not";
constexpr const char* kForeign = "it is built for another processor than Lockstep's library";
constexpr const char* kAlpine = "its libc is musl, and Lockstep's library needs glibc";

TEST_F(JobProgramsTest, ThoseThatCannotBeEnteredAreFoundOnce) {
  JobPrograms programs(10, proc_.string());
  add_process(11, 10, "plain");
  add_process(12, 11, "small");  // a grandchild
  add_process(9, 12, "alpine");  // numbers begin anew
  add_process(13, 11, "foreign");
  add_process(14, 11, "script");
  for (int looks = 0; looks < 4; ++looks) programs.look();
  EXPECT_THAT(found(programs), ElementsAre(Pair(9, kAlpine), Pair(12, kSmall), Pair(13, kForeign)));
  EXPECT_EQ(programs.found()[1].program, (folder_ / "small"));
}

TEST_F(JobProgramsTest, OfOthersNothingIsSaid) {
  JobPrograms programs(10, proc_.string());
  add_process(10, 1, "small");  // the recorder itself
  add_process(20, 1, "small");
  add_process(21, 20, "alpine", "elsewhere");
  add_process(22, 23, "small");  // in a circle
  add_process(23, 22, "small");
  programs.look();
  programs.look();
  EXPECT_THAT(found(programs), IsEmpty());
}

TEST_F(JobProgramsTest, AShellThatBecomesAnotherProgramIsSeen) {
  JobPrograms programs(10, proc_.string());
  add_process(11, 10, "plain");
  programs.look();
  become(11, "small");
  programs.look();
  EXPECT_THAT(found(programs), ElementsAre(Pair(11, kSmall)));
}

TEST_F(JobProgramsTest, ANumberThatIsAnothersByNowSaysNothing) {
  JobPrograms programs(10, proc_.string());
  add_process(11, 10, "plain");
  programs.look();
  std::ofstream(proc_ / "11/stat") << "11 (b) S 1 1 1 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5000 7";
  become(11, "small");
  programs.look();
  EXPECT_THAT(found(programs), IsEmpty());
}

TEST_F(JobProgramsTest, AnotherNetworkIsAReason) {
  JobPrograms programs(10, proc_.string());
  add_process(11, 10, "plain");
  add_process(12, 11, "plain", "elsewhere");
  programs.look();
  EXPECT_THAT(found(programs), ElementsAre(Pair(12, kOtherNetwork)));
}

// As it is: this test's own processes can be entered.
TEST(JobProgramsOfThisMachine, NothingIsSaidOfAProgramLikeOurs) {
  JobPrograms programs(getppid());
  programs.look();
  for (const JobPrograms::Process& process : programs.found()) EXPECT_NE(process.process, getpid());
}

}  // namespace
}  // namespace lockstep::tracer::record
