#include "analyzer/import/nccl_log/nccl_log.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace lockstep::analyzer::nccl_log {
namespace {

constexpr std::size_t kLongestLine = 4096;  // NCCL's own end at 1024 bytes and a host's name
constexpr std::size_t kMaxHeld = 1 << 18;
constexpr std::int32_t kMaxChannels = 64;

bool is_log_line(std::string_view line) {
  return line.starts_with("NCCL version ") || parse_info_line(line).has_value();
}

}  // namespace

bool recognises(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    if (is_log_line(beginning.substr(0, end))) return true;
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return false;
}

Status Log::add_file(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) return Error{fmt::format("{}: can't be opened (permissions?)", path.string())};
  begin_file(path.filename().string());
  std::vector<char> bytes(1 << 16);
  int got = 0;
  while ((got = gzread(file.get(), bytes.data(), static_cast<unsigned>(bytes.size()))) > 0)
    add_bytes({bytes.data(), static_cast<std::size_t>(got)});
  int error = Z_OK;
  (void)gzerror(file.get(), &error);
  if (got < 0 || (error != Z_OK && error != Z_STREAM_END)) damaged_.push_back(path.string());
  return {};
}

void Log::add_text(std::string_view text, std::string file) {
  begin_file(std::move(file));
  add_bytes(text);
}

void Log::begin_file(std::string file) {
  files_.push_back(std::move(file));
  line_.clear();
  line_is_too_long_ = false;
}

void Log::add_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    line_is_too_long_ = line_is_too_long_ || line_.size() + end > kLongestLine;
    if (!line_is_too_long_) line_.append(bytes.substr(0, end));
    if (end == bytes.size()) return;
    if (!line_is_too_long_) add_line(line_);
    line_.clear();
    line_is_too_long_ = false;
    bytes.remove_prefix(end + 1);
  }
}

bool Log::has_room() {
  full_ = full_ || held_ >= kMaxHeld;
  if (!full_) ++held_;
  return !full_;
}

void Log::add_line(std::string_view text) {
  const std::optional<InfoLine> line = parse_info_line(text);
  if (!line) return;
  const std::optional<CommunicatorLine> communicator = parse_communicator(line->message);
  const std::optional<ChannelLine> channel = communicator ? std::nullopt : parse_channel(line->message);
  if (!communicator && !channel) return;
  const auto process = process_of_.find({std::string(line->host), line->process, line->device});
  std::uint32_t index = process == process_of_.end() ? kNone : process->second;
  if (index == kNone) {
    if (!has_room()) return;
    index = static_cast<std::uint32_t>(processes_.size());
    process_of_.emplace(std::tuple(std::string(line->host), line->process, line->device), index);
    processes_.push_back({std::string(line->host), {}, {}});
  }
  auto thread = threads_.find({index, line->thread});
  if (thread == threads_.end()) {
    if (!has_room()) return;
    thread = threads_.emplace(std::pair(index, line->thread), Thread{}).first;
  }
  if (communicator)
    add_communicator(*communicator, index, thread->second);
  else
    add_channel(*channel, thread->second);
}

std::uint32_t Log::make_membership(const CommunicatorLine& line, std::uint32_t process) {
  if (!has_room()) return kNone;
  const auto index = static_cast<std::uint32_t>(memberships_.size());
  memberships_.push_back({process, line.id, line.rank, line.size, {}});
  processes_[process].memberships.push_back(index);
  return index;
}

void Log::add_communicator(const CommunicatorLine& line, std::uint32_t process, Thread& thread) {
  if (!line.complete) {
    leave_unplaced(thread, process);
    thread.address = line.address;
    thread.membership = make_membership(line, process);
    return;
  }
  if (thread.membership == kNone || thread.address != line.address) {
    // NCCL up to 2.17 does not say when it begins: what this thread said since is of this communicator.
    const std::uint32_t membership = make_membership(line, process);
    if (membership != kNone) {
      Membership& made = memberships_[membership];
      for (auto at = thread.pending.begin(); at != thread.pending.end();) {
        if (made.holds(at->first))
          made.connections.insert(thread.pending.extract(at++));
        else
          ++at;
      }
    }
    leave_unplaced(thread, process);
  }
  thread.address.clear();
  thread.membership = kNone;
}

void Log::add_channel(const ChannelLine& line, Thread& thread) {
  if (line.channel >= kMaxChannels || !parse_connection(line.connection)) return;
  any_channel_ = true;
  const ReportedPath said{line.from, line.to, line.received, std::string(line.connection)};
  const Channels channels{std::uint64_t{1} << line.channel, static_cast<std::uint32_t>(files_.size() - 1)};
  const bool is_known = thread.membership != kNone && memberships_[thread.membership].holds(said);
  add_connection(said, channels, is_known ? memberships_[thread.membership].connections : thread.pending);
}

void Log::add_connection(const ReportedPath& said, const Channels& channels, ReportedPaths& connections) {
  auto found = connections.find(said);
  if (found == connections.end()) {
    if (!has_room()) return;
    found = connections.emplace(said, Channels{0, channels.file}).first;
  }
  found->second.numbers |= channels.numbers;
}

void Log::leave_unplaced(Thread& thread, std::uint32_t process) {
  ReportedPaths& unplaced = processes_[process].unplaced;
  for (const auto& [said, channels] : thread.pending) {
    Channels& all = unplaced.try_emplace(said, Channels{0, channels.file}).first->second;
    all.numbers |= channels.numbers;
  }
  thread.pending.clear();
}

}  // namespace lockstep::analyzer::nccl_log
