#include "analyzer/import/rank/file_beginning.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

TEST(FileBeginning, IsTheSameOfGzip) {
  const TemporaryFolder folder;
  const std::string content(10'000, 'x');
  for (const std::string& written : {content, gzip(content)}) {
    const FileBeginning file = must(FileBeginning::read(folder.write("file", written)));
    EXPECT_EQ(file.bytes(), content.substr(0, 4096));
    EXPECT_EQ(must(file.further(9'000)), content.substr(0, 9'000));
    EXPECT_EQ(must(file.further(20'000)), content);
  }
}

TEST(FileBeginning, IsReadOnUntilThereIsEnough) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += std::to_string(i) + ' ';
  for (const std::string& written : {content, gzip(content)}) {
    const FileBeginning file = must(FileBeginning::read(folder.write("file", written)));
    const auto read_on = [&file](std::uint64_t most, std::size_t enough) {
      std::string got;
      file.read_on(most, [&](std::string_view piece) {
        got += piece;
        return got.size() < enough;
      });
      return got;
    };
    EXPECT_EQ(read_on(1'000'000'000, 1'000'000'000), content);
    EXPECT_EQ(read_on(300'001, 1'000'000'000), content.substr(0, 300'001));
    const std::string some = read_on(1'000'000'000, 1);
    EXPECT_LT(some.size(), content.size());
    EXPECT_EQ(some, content.substr(0, some.size()));
  }
}

TEST(FileBeginning, TextHasNoByteOrderMark) {
  const TemporaryFolder folder;
  const FileBeginning file = must(FileBeginning::read(folder.write("file", "\xEF\xBB\xBF{}")));
  EXPECT_EQ(file.text(), "{}");
  EXPECT_EQ(file.bytes().size(), 5U);
}

TEST(FileBeginning, OfDamagedGzipIsWhatCanBeRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(must(FileBeginning::read(folder.write("file", "\x1f\x8b\x08 no more"))).bytes(), "");
  EXPECT_FALSE(FileBeginning::read(folder / "absent").ok());
}

}  // namespace
}  // namespace lockstep::analyzer
