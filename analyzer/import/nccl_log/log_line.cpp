#include "analyzer/import/nccl_log/log_line.h"

#include <algorithm>

#include "base/numbers.h"

namespace lockstep::analyzer::nccl_log {
namespace {

constexpr std::string_view kInfo = " NCCL INFO ";
constexpr std::int32_t kMaxRanks = 1 << 24;
constexpr std::size_t kMaxConnectionText = 96;

// Takes from the front of `text`; whatever does not fit leaves it false.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  template <class Number>
  bool number(Number& out, int base = 10) {
    const auto read = take_number<Number>(rest_, base);
    if (read) out = *read;
    return read.has_value();
  }
  // A rank's device, "[3]" or "[b2000]".
  bool brackets() {
    if (!skip("[")) return false;
    const std::size_t end = rest_.find_first_not_of("0123456789abcdefABCDEF");
    if (end == 0 || end == std::string_view::npos || rest_[end] != ']') return false;
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool rank(std::int32_t& out) { return number(out) && out >= 0 && out < kMaxRanks && brackets(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char one) { return one >= ' ' && one <= '~'; });
}

// The number at the end of `text`, which becomes what stands before its colon.
bool take_last_number(std::string_view& text, std::int64_t& out) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  Scanner scanner(text.substr(colon + 1));
  if (!scanner.number(out) || out < 0 || !scanner.rest().empty()) return false;
  text.remove_suffix(text.size() - colon);
  return true;
}

// The word behind `name`, a word too; empty where there is none.
std::string_view word_after(std::string_view message, std::string_view name) {
  for (std::size_t at = message.find(name); at != std::string_view::npos; at = message.find(name, at + 1)) {
    const std::size_t begin = at + name.size();
    if ((at != 0 && message[at - 1] != ' ') || begin >= message.size() || message[begin] != ' ') continue;
    const std::string_view rest = message.substr(begin + 1);
    return rest.substr(0, rest.find(' '));
  }
  return {};
}

bool number_after(std::string_view message, std::string_view name, std::int32_t& out) {
  Scanner scanner(word_after(message, name));
  return scanner.number(out) && scanner.rest().empty();
}

// Behind "NET/": the network's name, its device and, where another rank sends for this one, that rank.
// Names hold spaces and may hold slashes.
std::optional<Connection> parse_network(std::string_view text) {
  for (std::size_t slash = text.find('/'); slash != std::string_view::npos;
       slash = text.find('/', slash + 1)) {
    Scanner scanner(text.substr(slash + 1));
    std::int32_t device = 0, sender = 0;
    if (slash == 0 || !scanner.number(device) || device < 0) continue;
    if (scanner.skip("(") && !(scanner.number(sender) && scanner.skip(")"))) return std::nullopt;
    Connection connection;
    connection.transport = Transport::net;
    connection.gpu_direct = scanner.skip("/GDRDMA");
    if (!scanner.rest().empty() && !scanner.rest().starts_with('/') && !scanner.rest().starts_with('('))
      return std::nullopt;
    return connection;
  }
  return std::nullopt;
}

}  // namespace

std::optional<InfoLine> parse_info_line(std::string_view line) {
  const std::size_t at = line.find(kInfo);
  if (at == std::string_view::npos || line.find(kInfo, at + 1) != std::string_view::npos) return std::nullopt;
  InfoLine info;
  info.message = line.substr(at + kInfo.size());
  while (info.message.ends_with('\r') || info.message.ends_with(' ')) info.message.remove_suffix(1);
  std::string_view speaker = line.substr(0, at);
  const std::size_t bracket = speaker.rfind(" [");
  if (bracket == std::string_view::npos) return std::nullopt;
  Scanner device(speaker.substr(bracket + 2));
  if (!device.number(info.device) || device.rest() != "]") return std::nullopt;
  speaker = speaker.substr(0, bracket);
  speaker.remove_prefix(std::min(speaker.size(), speaker.find_last_of(" \t") + 1));
  if (!take_last_number(speaker, info.thread) || !take_last_number(speaker, info.process))
    return std::nullopt;
  // torchrun and mpirun mark lines: "[default0]:node0", "[1,0]<stdout>:node0".
  info.host = speaker.substr(std::min(speaker.size(), speaker.find_last_of(":>]") + 1));
  if (info.host.empty() || info.host.size() > 255 || !is_printable(info.host)) return std::nullopt;
  return info;
}

std::optional<CommunicatorLine> parse_communicator(std::string_view message) {
  CommunicatorLine line;
  line.complete = message.ends_with("- Init COMPLETE");
  if (!line.complete && !message.ends_with("- Init START")) return std::nullopt;
  line.address = word_after(message, "comm");
  if (line.address.empty() || !number_after(message, "rank", line.rank) ||
      !number_after(message, "nranks", line.size))
    return std::nullopt;
  if (line.size < 1 || line.size > kMaxRanks || line.rank < 0 || line.rank >= line.size) return std::nullopt;
  Scanner id(word_after(message, "commId"));
  std::uint64_t value = 0;
  if (id.skip("0x") && id.number(value, 16) && id.rest().empty() && value != 0) line.id = value;
  return line;
}

std::optional<ChannelLine> parse_channel(std::string_view message) {
  ChannelLine line;
  Scanner scanner(message);
  std::int32_t connection = 0;
  if (!scanner.skip("Channel ") || !scanner.number(line.channel) || line.channel < 0) return std::nullopt;
  if (scanner.skip("/") && !scanner.number(connection)) return std::nullopt;
  scanner.skip_spaces();
  if (!scanner.skip(": ") || !scanner.rank(line.from) || !scanner.skip(" -> ") || !scanner.rank(line.to))
    return std::nullopt;
  line.received = scanner.skip(" [receive]");
  if (!line.received) (void)scanner.skip(" [send]");
  if (!scanner.skip(" via ")) return std::nullopt;
  line.connection = scanner.rest();
  if (line.connection.size() > kMaxConnectionText || !is_printable(line.connection) || line.from == line.to)
    return std::nullopt;
  return line;
}

std::optional<Connection> parse_connection(std::string_view text) {
  Scanner scanner(text);
  if (scanner.skip("NET/")) return parse_network(scanner.rest());
  Connection connection;
  if (scanner.skip("SHM/") && !scanner.rest().empty()) {
    connection.transport = Transport::shared_memory;
    connection.host_is_shared = true;
    return connection;
  }
  if (!scanner.skip("P2P/") || scanner.rest().empty()) return std::nullopt;
  const std::string_view kind = scanner.rest();
  connection.read = kind.ends_with("/read") || kind.find("/read/") != std::string_view::npos;
  connection.host_is_shared = !kind.starts_with("MNNVL");  // NVLink may reach beyond the host
  return connection;
}

}  // namespace lockstep::analyzer::nccl_log
