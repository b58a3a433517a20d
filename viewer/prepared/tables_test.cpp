#include "viewer/prepared/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "tests/temporary_folder.h"

namespace lockstep::viewer {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TablesKey kKey{7, 11};

std::vector<std::int64_t> numbers(std::size_t count) {
  std::vector<std::int64_t> values(count);
  std::iota(values.begin(), values.end(), -5);
  return values;
}

class TablesFile : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "run.lockstep-view"; }
  std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write_bytes(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  std::string error_of(const TablesKey& key = kKey) const {
    const auto opened = Tables::open(path(), key);
    return opened.ok() ? "" : opened.error().message;
  }
  test::TemporaryFolder folder_;
};

TEST_F(TablesFile, GivesBackWhatWasWritten) {
  Extent<std::int64_t> few, many;
  Extent<char> text;
  {
    TablesWriter writer = TablesWriter::create(path()).value();
    few = writer.add(numbers(3));
    text = writer.add(std::span<const char>("abc", 3));
    many = writer.add(numbers(1'000'000));  // more than is buffered
    EXPECT_FALSE(std::filesystem::exists(path())) << "nobody sees half a file";
    ASSERT_TRUE(writer.finish("contents", kKey).ok());
  }
  const auto tables = Tables::open(path(), kKey).value();
  EXPECT_EQ(tables->contents(), "contents");
  EXPECT_THAT(tables->array(few), ElementsAreArray(numbers(3)));
  EXPECT_EQ(std::string(tables->array(text).data(), 3), "abc");
  EXPECT_TRUE(std::ranges::equal(tables->array(many), numbers(1'000'000)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tables->array(many).data()) % 64, 0u);
}

TEST_F(TablesFile, InMemoryIsTheSame) {
  TablesWriter writer = TablesWriter::in_memory().value();
  const auto values = writer.add(numbers(100));
  const auto tables = writer.finish("", kKey).value();
  EXPECT_THAT(tables->array(values), ElementsAreArray(numbers(100)));
}

TEST_F(TablesFile, AnUnfinishedFileLeavesNothing) {
  { TablesWriter::create(path()).value().add(numbers(10)); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(TablesFile, AFileThatIsCutWhileItIsMappedReadsAsZerosBehindTheCut) {
  Extent<std::int64_t> values;
  {
    TablesWriter writer = TablesWriter::create(path()).value();
    values = writer.add(numbers(1'000'000));
    ASSERT_TRUE(writer.finish("contents", kKey).ok());
  }
  const auto whole = Tables::open(path(), kKey).value();
  const auto cut = Tables::open(path(), kKey).value();
  const auto array = cut->array(values);
  EXPECT_EQ(array.back(), 999'994);
  EXPECT_FALSE(cut->was_cut());
  std::filesystem::resize_file(path(), 100'000);
  EXPECT_EQ(array.front(), -5) << "what is left stays";
  EXPECT_EQ(array.back(), 0);
  EXPECT_EQ(array[500'000], 0);
  EXPECT_EQ(array.front(), -5);
  EXPECT_TRUE(cut->was_cut());
  EXPECT_FALSE(whole->was_cut()) << "nobody has read there yet";
}

TEST_F(TablesFile, AFileThatIsReplacedStaysAsItWasForWhoMappedIt) {
  const auto write = [this](std::size_t count) {
    TablesWriter writer = TablesWriter::create(path()).value();
    const auto values = writer.add(numbers(count));
    EXPECT_TRUE(writer.finish("contents", kKey).ok());
    return values;
  };
  const auto values = write(1'000'000);
  const auto mapped = Tables::open(path(), kKey).value();
  write(10);
  EXPECT_TRUE(std::ranges::equal(mapped->array(values), numbers(1'000'000)));
  EXPECT_FALSE(mapped->was_cut());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "nothing else left";
}

TEST_F(TablesFile, ExtentsBeyondTheFileAreEmpty) {
  TablesWriter writer = TablesWriter::in_memory().value();
  const auto values = writer.add(numbers(100));
  const auto tables = writer.finish("", kKey).value();
  for (const Extent<std::int64_t> wrong :
       {Extent<std::int64_t>{values.offset, 1'000}, Extent<std::int64_t>{values.offset + 1, 1},
        Extent<std::int64_t>{~std::uint64_t{0}, 1}, Extent<std::int64_t>{0, ~std::uint64_t{0}}}) {
    EXPECT_FALSE(tables->holds(wrong));
    EXPECT_THAT(tables->array(wrong), IsEmpty());
  }
}

TEST_F(TablesFile, OfAnotherKeyIsRefused) {
  ASSERT_TRUE(TablesWriter::create(path()).value().finish("contents", kKey).ok());
  EXPECT_EQ(error_of(), "");
  EXPECT_THAT(error_of({8, 11}), HasSubstr("another version"));
  EXPECT_THAT(error_of({7, 12}), HasSubstr("other files"));
}

TEST_F(TablesFile, CutDamagedOrForeignIsRefused) {
  {
    TablesWriter writer = TablesWriter::create(path()).value();
    writer.add(numbers(20));
    ASSERT_TRUE(writer.finish("contents", kKey).ok());
  }
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(whole.substr(0, size));
    EXPECT_NE(error_of(), "") << "cut at " << size;
  }
  for (std::size_t at = 0; at < 64; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_bytes(changed);
    EXPECT_NE(error_of(), "") << "header, byte " << at;
  }
  std::string changed = whole;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  write_bytes(changed);
  EXPECT_THAT(error_of(), HasSubstr("damaged"));
}

// Opening one waits until somebody writes into it: nobody does. A test that waits is ended by its time limit.
TEST_F(TablesFile, ANamedPipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(error_of(), HasSubstr("run.lockstep-view: not a prepared timeline"));
  ASSERT_TRUE(TablesWriter::create(path()).value().finish("contents", kKey).ok());
  EXPECT_EQ(error_of(), "") << "what is prepared takes its place";
}

TEST_F(TablesFile, WhereNobodyCanWriteIsAnError) {
  const auto writer = TablesWriter::create(folder_ / "absent/run.lockstep-view");
  ASSERT_FALSE(writer.ok());
  EXPECT_THAT(writer.error().message, HasSubstr("absent/run.lockstep-view: No such file"));
}

}  // namespace
}  // namespace lockstep::viewer
