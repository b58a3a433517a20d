#include "tracer/protocol/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "base/numbers.h"
#include "base/small_file.h"

namespace lockstep::tracer {

namespace {

constexpr std::string_view kRestart = "-restart-";

struct Launcher {
  std::string_view name;
  const char* rank;
  const char* world_size;
  const char* local_rank;
};

constexpr std::array kLaunchers{
    Launcher{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

// The value as a non-negative number, or -1.
std::int32_t number(const char* text) {
  return text == nullptr ? -1 : parse_number<std::int32_t>(text, 0).value_or(-1);
}

bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

JobIdentity identify_job(const std::function<const char*(const char*)>& lookup) {
  for (const Launcher& launcher : kLaunchers) {
    const std::int32_t rank = number(lookup(launcher.rank));
    if (rank < 0) continue;
    const std::int32_t world_size = number(lookup(launcher.world_size));
    if (world_size >= 0 && rank >= world_size) continue;
    return JobIdentity{rank, world_size, number(lookup(launcher.local_rank)),
                       std::max(number(lookup("TORCHELASTIC_RESTART_COUNT")), 0), launcher.name};
  }
  return {};
}

JobIdentity identify_job() {
  return identify_job([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
}

std::string host_for_file_name(std::string_view host) {
  std::string result(host.empty() ? "host" : host);
  for (char& c : result) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return result;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string clock_identity() {
  std::string identity = read_small_file("/proc/sys/kernel/random/boot_id");
  while (!identity.empty() && identity.back() == '\n') identity.pop_back();
  if (identity.empty()) return identity;
  std::array<char, 128> text{};
  const ssize_t size = readlink("/proc/self/ns/time", text.data(), text.size());
  if (size > 0) identity.append("/").append(text.data(), static_cast<std::size_t>(size));
  return identity;
}

std::string rank_file_name(std::int32_t rank, std::int32_t restart) {
  std::string name = "rank-";
  name += std::to_string(rank);
  if (restart > 0) {
    name += kRestart;
    name += std::to_string(restart);
  }
  name += ".lst";
  return name;
}

std::optional<std::int32_t> rank_of_file_name(std::string_view name) {
  if (!is_trace_file_name(name) || !consume(name, "rank-")) return std::nullopt;
  return take_number<std::int32_t>(name);
}

std::int32_t restart_of_file_name(std::string_view name) {
  const std::size_t restart = name.find(kRestart);
  if (!rank_of_file_name(name).has_value() || restart == std::string_view::npos) return 0;
  name.remove_prefix(restart + kRestart.size());
  return take_number<std::int32_t>(name).value_or(0);
}

std::string process_file_name(std::string_view host, std::int64_t process, int attempt) {
  std::string name = "proc-";
  name += host_for_file_name(host);
  name += '-';
  name += std::to_string(process);
  if (attempt > 1) {
    name += '-';
    name += std::to_string(attempt);
  }
  name += ".lst";
  return name;
}

bool is_trace_file_name(std::string_view name) {
  if (!name.ends_with(".lst")) return false;
  name.remove_suffix(4);
  if (consume(name, "rank-")) {
    const std::size_t restart = name.find(kRestart);
    if (restart == std::string_view::npos) return all_digits(name);
    return all_digits(name.substr(0, restart)) && all_digits(name.substr(restart + kRestart.size()));
  }
  if (!consume(name, "proc-")) return false;
  const std::size_t dash = name.rfind('-');
  return dash != std::string_view::npos && dash > 0 && all_digits(name.substr(dash + 1));
}

}  // namespace lockstep::tracer
