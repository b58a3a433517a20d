#include "analyzer/import/rank/file_beginning.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

namespace lockstep::analyzer {
namespace {

constexpr unsigned kBeginning = 4096;

using File = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

// zlib's gz functions pass plain files through.
File open(const std::filesystem::path& path) {
  return {gzopen(path.c_str(), "rb"), gzclose};
}

Result<std::string> beginning_of(const std::filesystem::path& path, unsigned size) {
  std::string bytes(size, '\0');
  const File file = open(path);
  if (file == nullptr) return Error{fmt::format("{}: can't be opened (permissions?)", path.string())};
  const int got = gzread(file.get(), bytes.data(), size);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

Result<FileBeginning> FileBeginning::read(const std::filesystem::path& path) {
  Result<std::string> bytes = beginning_of(path, kBeginning);
  if (!bytes.ok()) return bytes.error();
  return FileBeginning(path, std::move(bytes).value());
}

std::string_view FileBeginning::text() const {
  std::string_view text = bytes_;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

Result<std::string> FileBeginning::further(unsigned size) const {
  return beginning_of(path_, size);
}

void FileBeginning::read_on(std::uint64_t most,
                            const std::function<bool(std::string_view piece)>& take) const {
  constexpr std::uint64_t kPiece = std::uint64_t{128} << 10U;
  const File file = open(path_);
  if (file == nullptr) return;
  std::string bytes(kPiece, '\0');
  while (most > 0) {
    const int got = gzread(file.get(), bytes.data(), static_cast<unsigned>(std::min(kPiece, most)));
    if (got <= 0 || !take(std::string_view(bytes).substr(0, static_cast<std::size_t>(got)))) return;
    most -= static_cast<std::uint64_t>(got);
  }
}

}  // namespace lockstep::analyzer
