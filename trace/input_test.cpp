// What a user may hand to the reader that is no trace file, or stops being one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/input_file.h"
#include "trace/test_support.h"

namespace lockstep::trace {
namespace {

using test::expect_ok;
using test::must;
using testing::HasSubstr;

class Input : public testing::Test {
 protected:
  std::string error_of(const std::string& path) {
    Result<Reader> reader = Reader::open(path);
    EXPECT_FALSE(reader.ok());
    return reader.ok() ? "" : reader.error().message;
  }
  test::TemporaryFolder folder_;
};

TEST_F(Input, MissingFile) {
  const std::string path = folder_ / "absent.lst";
  EXPECT_EQ(error_of(path), "cannot read trace file '" + path + "': No such file or directory");
}

TEST_F(Input, Folder) {
  EXPECT_THAT(error_of(folder_ / ""), HasSubstr("it is a folder; give the file"));
}

TEST_F(Input, NamedPipeDoesNotHang) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_of(folder_ / "pipe"), HasSubstr("not a regular file"));
}

TEST_F(Input, EmptyFile) {
  test::write_file(folder_ / "empty.lst", {});
  EXPECT_THAT(error_of(folder_ / "empty.lst"), HasSubstr("is empty"));
}

TEST_F(Input, SomethingElse) {
  const std::string text(1000, '{');
  test::write_file(folder_ / "text.json", std::as_bytes(std::span(text)));
  EXPECT_THAT(error_of(folder_ / "text.json"), HasSubstr("is not a Lockstep trace"));
  EXPECT_FALSE(Reader::recognises(std::as_bytes(std::span(text))));
  test::write_file(folder_ / "short", std::as_bytes(std::span(text).first(5)));
  EXPECT_THAT(error_of(folder_ / "short"), HasSubstr("has only 5 bytes"));
}

TEST_F(Input, IsRecognisedByItsFirstBytes) {
  Writer writer = must(Writer::create((folder_ / "a.lst").c_str()));
  const std::vector<std::byte> bytes = test::read_file(folder_ / "a.lst");
  EXPECT_TRUE(Reader::recognises(bytes));
  EXPECT_TRUE(Reader::recognises(std::span(bytes).first(8)));
  EXPECT_FALSE(Reader::recognises(std::span(bytes).first(7)));
}

// Larger than what is copied into memory, so that it is really mapped.
class MappedInput : public Input {
 protected:
  MappedInput() {
    Writer writer = must(Writer::create((folder_ / "large.lst").c_str()));
    writer.add_lane({});
    test::RandomEvents random(3);
    for (int i = 0; i < kEvents; ++i) {
      writer.append(Mark{.time = i,
                         .name = static_cast<StringId>(random.number()),
                         .domain = static_cast<StringId>(random.number()),
                         .color = static_cast<std::uint32_t>(random.number())});
    }
    expect_ok(writer.close());
    EXPECT_GT(std::filesystem::file_size(folder_ / "large.lst"), 2 * format::InputFile::kCopiedSize);
  }
  static constexpr int kEvents = 100'000;
};

TEST_F(MappedInput, IsReadWhole) {
  const Reader reader = must(Reader::open(folder_ / "large.lst"));
  EXPECT_TRUE(reader.complete());
  std::vector<Mark> marks;
  expect_ok(reader.read(Selection{}, marks));
  ASSERT_EQ(marks.size(), static_cast<std::size_t>(kEvents));
  for (int i = 0; i < kEvents; ++i) ASSERT_EQ(marks[static_cast<std::size_t>(i)].time, i);
}

TEST_F(MappedInput, MayShrinkAfterItWasOpened) {
  const Reader reader = must(Reader::open(folder_ / "large.lst"));
  ASSERT_EQ(truncate((folder_ / "large.lst").c_str(), 5000), 0);
  std::vector<Mark> marks;
  const Status status = reader.read(Selection{}, marks);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("the file has become shorter since it was opened"));
  EXPECT_TRUE(marks.empty());
}

TEST_F(MappedInput, MayBeRemovedAfterItWasOpened) {
  const Reader reader = must(Reader::open(folder_ / "large.lst"));
  std::filesystem::remove(folder_ / "large.lst");
  std::vector<Mark> marks;
  expect_ok(reader.read(Selection{}, marks));
  EXPECT_EQ(marks.size(), static_cast<std::size_t>(kEvents));
}

}  // namespace
}  // namespace lockstep::trace
