// What the program that we are a guest of may do to the file, and writing that goes on where it stopped.
#include "trace/format/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "trace/test_support.h"

namespace lockstep::trace::format {
namespace {

using testing::HasSubstr;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override { test::expect_ok(file_.create(path_.c_str(), true)); }

  void put(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    file_.buffer().insert(file_.buffer().end(), bytes.begin(), bytes.end());
  }
  std::string contents() const {
    std::string text;
    for (const std::byte byte : test::read_file(path_)) text += static_cast<char>(byte);
    return text;
  }
  // As another thread that is gone by now would have written.
  void append(std::string_view text) const { std::ofstream(path_, std::ios::app) << text; }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "file";
  OutputFile file_;
};

TEST_F(OutputFileTest, IsOpenedAgainWhereItsDescriptorIsClosed) {
  put("one ");
  test::expect_ok(file_.write_buffer());
  const int closed = file_.descriptor();
  ASSERT_EQ(::close(closed), 0);
  // The program's own file gets the number.
  const int own = open((folder_ / "own").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(own, 0);
  ASSERT_EQ(own == closed ? own : dup2(own, closed), closed);
  put("two ");
  test::expect_ok(file_.write_buffer());
  test::expect_ok(file_.overwrite(0, std::as_bytes(std::span("ONE ", 4))));
  put("three");
  test::expect_ok(file_.write_buffer());
  test::expect_ok(file_.close());
  EXPECT_EQ(contents(), "ONE two three");
  struct stat status {};
  ASSERT_EQ(fstat(closed, &status), 0) << "the program's descriptor was closed";
  EXPECT_EQ(status.st_size, 0);
  ::close(closed);
  if (own != closed) ::close(own);
}

TEST_F(OutputFileTest, IsNotTakenForAnotherInItsPlace) {
  put("one ");
  test::expect_ok(file_.write_buffer());
  for (const bool is_fifo : {false, true}) {
    if (!is_fifo) {
      ::close(file_.descriptor());
      std::filesystem::rename(path_, folder_ / "moved");
      append("another");
    } else {
      std::filesystem::remove(path_);
      ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
    }
    EXPECT_FALSE(file_.hold());
    put("lost");
    const Status written = file_.write_buffer();
    ASSERT_FALSE(written.ok());
    EXPECT_THAT(written.error().message, HasSubstr("the program has closed its descriptor"));
    if (!is_fifo) {
      EXPECT_EQ(contents(), "another");
    }
  }
  // Back where it was, it is found.
  std::filesystem::remove(path_);
  std::filesystem::rename(folder_ / "moved", path_);
  put("two");
  test::expect_ok(file_.write_buffer());
  EXPECT_EQ(contents(), "one two");
}

// The program has our file open for itself, under our number, and can't write to it.
TEST_F(OutputFileTest, ANumberUnderWhichNothingCanBeWrittenIsAnError) {
  const int number = file_.descriptor();
  const int reading = open(path_.c_str(), O_RDONLY);
  ASSERT_EQ(dup2(reading, number), number);
  put("lost");
  EXPECT_FALSE(file_.write_buffer().ok());
  ::close(reading);
}

TEST_F(OutputFileTest, GoesOnWhereAWriteStopped) {
  const std::string text = "what a thread had begun to write when it was killed";
  for (std::size_t done = 0; done <= text.size(); ++done) {
    OutputFile file;
    std::filesystem::remove(path_);
    test::expect_ok(file.create(path_.c_str(), true));
    const auto begin = std::as_bytes(std::span(std::string_view("begin ")));
    file.buffer().assign(begin.begin(), begin.end());
    test::expect_ok(file.write_buffer());
    const auto bytes = std::as_bytes(std::span(text));
    file.buffer().assign(bytes.begin(), bytes.end());
    append(text.substr(0, done));
    test::expect_ok(file.resume_writing());
    EXPECT_EQ(file.written(), 6 + text.size());
    const auto end = std::as_bytes(std::span(std::string_view(" end")));
    file.buffer().assign(end.begin(), end.end());
    test::expect_ok(file.write_buffer());
    EXPECT_EQ(contents(), "begin " + text + " end");
  }
}

TEST_F(OutputFileTest, DoesNotGoOnWhereTheFileIsNotWhatItWas) {
  put("begin ");
  test::expect_ok(file_.write_buffer());
  put("more");
  append("more than was to be written");
  EXPECT_FALSE(file_.resume_writing().ok());
}

}  // namespace
}  // namespace lockstep::trace::format
