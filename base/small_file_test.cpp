#include "base/small_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string>

#include "tests/temporary_folder.h"

namespace lockstep {
namespace {

TEST(SmallFile, IsReadWhole) {
  const test::TemporaryFolder folder;
  const std::string text = std::string(5'000, 'x') + '\0' + "\nlast";
  EXPECT_EQ(read_small_file(folder.write("file", text)), text);
  EXPECT_EQ(read_small_file(folder.write("empty", "")), "");
}

TEST(SmallFile, OfProcTellsNoSizeAndIsReadAllTheSame) {
  EXPECT_EQ(read_small_file("/proc/self/comm").back(), '\n');
}

TEST(SmallFile, ThatCantBeReadIsEmpty) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_small_file(folder / "none"), "");
  EXPECT_EQ(read_small_file(folder.path().string()), "") << "a folder";
}

TEST(SmallFile, IsReadWholeOrNotAtAll) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_all_or_nothing(folder.write("empty", "")), "");
  EXPECT_EQ(read_all_or_nothing(folder.write("large", std::string(100'000, 'x'))), std::string(100'000, 'x'));
  EXPECT_FALSE(read_all_or_nothing(folder / "none").has_value());
  EXPECT_EQ(errno, ENOENT);
  // It can be opened, and some of it can't be read.
  EXPECT_FALSE(read_all_or_nothing("/proc/self/mem").has_value());
  EXPECT_EQ(errno, EIO);
}

// Opening a pipe waits until somebody writes into it, and reading a terminal until somebody types: nobody
// does. A test that waits is ended by its time limit.
TEST(SmallFile, ThatIsNoFileIsEmptyAndNotWaitedFor) {
  const test::TemporaryFolder folder;
  const std::string pipe = folder / "pipe", socket_path = folder / "socket", link = folder / "link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(pipe, link);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket_path.size(), sizeof address.sun_path);
  socket_path.copy(address.sun_path, socket_path.size());
  ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string& path :
       {pipe, socket_path, link, std::string("/dev/zero"), std::string("/dev/null")}) {
    EXPECT_EQ(read_small_file(path, kWholeFile), "") << path;
    EXPECT_EQ(open_regular_file(path), -1) << path;
  }
  // With a writer there is something to read, and it is not taken.
  const int writer = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_EQ(write(writer, "x", 1), 1);
  EXPECT_EQ(read_small_file(pipe), "");
  close(writer);
  close(socket);
}

TEST(SmallFile, ThatIsOneIsOpened) {
  const test::TemporaryFolder folder;
  const int file = open_regular_file(folder.write("file", "text"));
  ASSERT_GE(file, 0);
  EXPECT_EQ(fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  close(file);
}

TEST(SmallFile, ThatIsLargeIsCut) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(read_small_file(folder.write("large", std::string(100'000, 'x'))), std::string(65'536, 'x'));
  EXPECT_EQ(read_small_file(folder / "large", kWholeFile), std::string(100'000, 'x'));
  EXPECT_EQ(read_small_file(folder / "large", 5'000), std::string(5'000, 'x'));
}

TEST(SmallFile, IsReplacedWhole) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("file", "old and longer");
  ASSERT_EQ(mkfifo((path + ".part").c_str(), 0600), 0) << "opening it would wait";
  ASSERT_TRUE(replace_small_file(path, "new").ok());
  EXPECT_EQ(read_small_file(path), "new");
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "nothing is left beside it";
}

TEST(SmallFile, ThatCantBeWrittenIsNamedAndLeftAsItWas) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("file", "old");
  const Status below = replace_small_file(file + "/below", "new");
  ASSERT_FALSE(below.ok());
  EXPECT_EQ(below.error().message, "cannot write '" + file + "/below': Not a directory");
  std::filesystem::create_directory(folder / "folder");
  const Status over = replace_small_file(folder / "folder", "new");
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().message, "cannot write '" + (folder / "folder") + "': Is a directory");
  EXPECT_FALSE(std::filesystem::exists(folder / "folder.part"));
  EXPECT_EQ(read_small_file(file), "old");
}

}  // namespace
}  // namespace lockstep
