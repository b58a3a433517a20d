#include "analyzer/import/kineto/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace lockstep::analyzer::kineto {
namespace {

constexpr std::size_t kCompressedWindow = std::size_t{256} << 10;

}  // namespace

struct ByteSource::State {
  int file = -1;
  std::uint64_t size = 0;
  std::uint64_t taken = 0;  // bytes read from the file
  std::uint64_t given = 0;  // bytes handed out
  std::string problem;
  bool compressed = false;
  bool inflating = false;  // `stream` is initialised
  bool member_open = false;
  bool finished = false;
  z_stream stream{};
  std::vector<unsigned char> window;

  ~State() {
    if (inflating) inflateEnd(&stream);
    if (file >= 0) ::close(file);
  }

  std::size_t read_file(void* out, std::size_t wanted) {
    std::size_t got = 0;
    while (got < wanted) {
      const ssize_t n = ::read(file, static_cast<char*>(out) + got, wanted - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0)
        problem = fmt::format("reading stopped after {} bytes: {}", taken + got, std::strerror(errno));
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    taken += got;
    return got;
  }

  // One gzip file may hold several members, one after the other.
  std::size_t read_inflated(char* out, std::size_t wanted) {
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = static_cast<uInt>(wanted);
    while (stream.avail_out > 0 && !finished) {
      if (stream.avail_in == 0) {
        stream.next_in = window.data();
        stream.avail_in = static_cast<uInt>(read_file(window.data(), window.size()));
        if (stream.avail_in == 0) {
          if (member_open && problem.empty())
            problem = fmt::format("the gzip data is cut short after {} bytes", taken);
          finished = true;
          break;
        }
      }
      if (!member_open) {
        if (stream.next_in[0] != 0x1F) {  // padding or something else behind the last member
          finished = true;
          if (stream.next_in[0] != 0)
            problem = fmt::format("other bytes stand behind the gzip data, {} bytes before the end",
                                  size - taken + stream.avail_in);
          break;
        }
        inflateReset(&stream);
        member_open = true;
      }
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        member_open = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        problem = fmt::format("the gzip data is damaged near byte {}: {}", taken - stream.avail_in,
                              stream.msg != nullptr ? stream.msg : "inflate failed");
        finished = true;
      }
    }
    return wanted - stream.avail_out;
  }
};

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->file =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a named pipe is refused, not waited for
  if (state->file < 0) return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  struct stat status {};
  if (::fstat(state->file, &status) != 0)
    return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("{}: not a regular file", path.string())};
  state->size = static_cast<std::uint64_t>(status.st_size);
  unsigned char magic[2] = {};
  state->compressed = ::pread(state->file, magic, 2, 0) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
  if (state->compressed) {
    constexpr int kGzip = 16;
    if (inflateInit2(&state->stream, kGzip + MAX_WBITS) != Z_OK)
      return Error{fmt::format("{}: zlib could not be initialised (out of memory?)", path.string())};
    state->inflating = true;
    state->window.resize(kCompressedWindow);
  }
  ::posix_fadvise(state->file, 0, 0, POSIX_FADV_SEQUENTIAL);
  return ByteSource(std::move(state));
}

std::size_t ByteSource::read(char* out, std::size_t size) {
  State& s = *state_;
  const std::size_t got = s.compressed ? s.read_inflated(out, size) : s.read_file(out, size);
  s.given += got;
  return got;
}

const std::string& ByteSource::problem() const {
  return state_->problem;
}
bool ByteSource::compressed() const {
  return state_->compressed;
}
std::uint64_t ByteSource::file_size() const {
  return state_->size;
}
std::uint64_t ByteSource::file_done() const {
  return state_->taken - state_->stream.avail_in;
}

}  // namespace lockstep::analyzer::kineto
