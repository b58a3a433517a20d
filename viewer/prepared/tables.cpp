#include "viewer/prepared/tables.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "trace/format/checksum.h"

namespace lockstep::viewer {

namespace {

constexpr std::array<char, 8> kMagic{'L', 'S', 'V', 'I', 'E', 'W', '\r', '\n'};
constexpr std::uint64_t kAlignment = 64;
constexpr std::size_t kBuffer = std::size_t{1} << 20U;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t layout = 0;
  std::uint64_t fingerprint = 0;
  std::uint64_t contents_offset = 0;
  std::uint64_t contents_size = 0;
  std::uint64_t contents_checksum = 0;
  std::uint64_t file_size = 0;
  std::uint64_t header_checksum = 0;  // of all before it
};
static_assert(sizeof(Header) == kAlignment);

std::uint64_t checksum_of(const Header& header) {
  return trace::format::checksum(
      std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_checksum)));
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

// Closes unless it was handed over.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

}  // namespace

Result<std::shared_ptr<const Tables>> Tables::open(const std::filesystem::path& path, const TablesKey& key) {
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a named pipe is refused, not waited for
  if (file.get() < 0) return Error{fmt::format("{}: {}", path.string(), reason(errno))};
  return map(file.get(), key, path.string());
}

Result<std::shared_ptr<const Tables>> Tables::map(int descriptor, const TablesKey& key,
                                                  const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return Error{fmt::format("{}: {}", name, reason(errno))};
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  Header header;
  if (!S_ISREG(status.st_mode) || size < sizeof(Header) ||
      ::pread(descriptor, &header, sizeof(header), 0) != static_cast<ssize_t>(sizeof(header)) ||
      header.magic != kMagic || header.header_checksum != checksum_of(header))
    return Error{fmt::format("{}: not a prepared timeline", name)};
  if (header.layout != key.layout)
    return Error{fmt::format("{}: prepared by another version of this program", name)};
  if (header.fingerprint != key.fingerprint)
    return Error{fmt::format("{}: prepared from other files than those that are there now", name)};
  if (header.file_size != size || header.contents_offset > size ||
      header.contents_size > size - header.contents_offset)
    return Error{fmt::format("{}: cut short", name)};
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return Error{fmt::format("{}: {}", name, reason(errno))};
  std::shared_ptr<Tables> tables(new Tables);
  tables->bytes_ = {static_cast<const std::byte*>(mapped), static_cast<std::size_t>(size)};
  tables->guard_ = std::make_unique<MappingGuard>(tables->bytes_);
  const auto contents = tables->bytes_.subspan(header.contents_offset, header.contents_size);
  if (trace::format::checksum(contents) != header.contents_checksum)
    return Error{fmt::format("{}: damaged", name)};
  tables->contents_ = {reinterpret_cast<const char*>(contents.data()), contents.size()};
  return std::shared_ptr<const Tables>(std::move(tables));
}

Tables::~Tables() {
  guard_.reset();
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<TablesWriter> TablesWriter::create(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int nameless = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (nameless >= 0) return TablesWriter(nameless, path, {});
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return Error{fmt::format("{}: {}", path.string(), reason(errno))};
  return TablesWriter(descriptor, path, temporary);
}

Result<TablesWriter> TablesWriter::in_memory() {
  const int descriptor = ::memfd_create("lockstep-view", MFD_CLOEXEC);
  if (descriptor < 0) return Error{fmt::format("memory for the timeline: {}", reason(errno))};
  return TablesWriter(descriptor, {}, {});
}

TablesWriter::TablesWriter(int descriptor, std::filesystem::path path, std::filesystem::path temporary)
    : descriptor_(descriptor), path_(std::move(path)), temporary_(std::move(temporary)) {
  buffer_.reserve(kBuffer);
  static constexpr std::array<std::byte, sizeof(Header)> kRoom{};
  write(kRoom);
}

TablesWriter::TablesWriter(TablesWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

TablesWriter::~TablesWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::uint64_t TablesWriter::add_bytes(std::span<const std::byte> bytes) {
  static constexpr std::array<std::byte, kAlignment> kZeros{};
  write(std::span(kZeros).first((kAlignment - size_ % kAlignment) % kAlignment));
  const std::uint64_t offset = size_;
  write(bytes);
  return offset;
}

void TablesWriter::write(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBuffer) flush();
  if (bytes.size() <= kBuffer) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  write_out(bytes);
}

void TablesWriter::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void TablesWriter::write_out(std::span<const std::byte> bytes) {
  while (!bytes.empty() && error_.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) error_ = reason(errno);
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

int TablesWriter::move_into_place() {
  if (temporary_.empty()) {
    // A link replaces nothing, so by way of a name of its own; tried again where somebody has that one.
    static std::atomic<unsigned> count{0};
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    constexpr int kAttempts = 100;
    int error = EEXIST;
    for (int i = 0; i < kAttempts && error == EEXIST; ++i) {
      temporary_ = fmt::format("{}.{}-{}", path_.string(), ::getpid(), count++);
      error =
          ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    }
    if (error != 0) {
      temporary_.clear();
      return error;
    }
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno;
  temporary_.clear();
  return 0;
}

Result<std::shared_ptr<const Tables>> TablesWriter::finish(std::string_view contents, const TablesKey& key) {
  const auto bytes = std::as_bytes(std::span(contents));
  Header header;
  header.layout = key.layout;
  header.fingerprint = key.fingerprint;
  header.contents_offset = add_bytes(bytes);
  header.contents_size = bytes.size();
  header.contents_checksum = trace::format::checksum(bytes);
  header.file_size = size_;
  header.header_checksum = checksum_of(header);
  flush();
  const std::string name = path_.empty() ? "the timeline in memory" : path_.string();
  if (error_.empty() && ::pwrite(descriptor_, &header, sizeof(header), 0) != ssize_t{sizeof(header)})
    error_ = reason(errno);
  if (!error_.empty()) return Error{fmt::format("{}: {}", name, error_)};
  Result<std::shared_ptr<const Tables>> tables = Tables::map(descriptor_, key, name);
  if (tables.ok() && !path_.empty()) {
    if (const int error = move_into_place(); error != 0)
      return Error{fmt::format("{}: {}", name, reason(error))};
  }
  return tables;
}

}  // namespace lockstep::viewer
