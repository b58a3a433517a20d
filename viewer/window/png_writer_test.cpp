#include "viewer/window/png_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/temporary_folder.h"
#include "viewer/testing/png_reader.h"

namespace lockstep::viewer {
namespace {

using test::TemporaryFolder;

Picture noise(int width, int height, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Picture picture{width, height, {}};
  for (int i = 0; i < 3 * width * height; ++i) picture.rgb.push_back(static_cast<std::uint8_t>(random()));
  return picture;
}

TEST(Png, IsReadBackPixelByPixel) {
  for (const auto& [width, height] : {std::pair{1, 1}, {7, 3}, {1, 200}, {640, 5}}) {
    const Picture picture = noise(width, height, 8);
    const ReadPicture read = read_png(encode_png(picture));
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.picture.width, width);
    EXPECT_EQ(read.picture.height, height);
    EXPECT_EQ(read.picture.rgb, picture.rgb);
  }
}

TEST(Png, AFlatPictureIsSmall) {
  Picture picture{1920, 1080, std::vector<std::uint8_t>(3 * 1920 * 1080, 0x17)};
  EXPECT_LT(encode_png(picture).size(), 20'000u);
}

TEST(Png, TheTestsReaderSeesAFlippedByte) {
  std::vector<std::uint8_t> bytes = encode_png(noise(4, 4, 9));
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_NE(read_png(bytes).error, "");
}

TEST(WritePng, WritesTheFileAndNothingElse) {
  const TemporaryFolder folder;
  const Picture picture = noise(20, 10, 10);
  ASSERT_TRUE(write_png(folder / "run.png", picture).ok());
  std::ifstream file(folder / "run.png", std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes, encode_png(picture));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WritePng, SaysWhichFileItCouldNotWrite) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "absent/run.png";
  const Status status = write_png(path, noise(2, 2, 11));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr(path.string()));
  EXPECT_THAT(status.error().message, testing::HasSubstr("No such file or directory"));
}

TEST(WritePng, AFullDiskLeavesNoHalfPicture) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "run.png.part");
  EXPECT_FALSE(write_png(folder / "run.png", noise(200, 200, 12)).ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "run.png"));
}

}  // namespace
}  // namespace lockstep::viewer
