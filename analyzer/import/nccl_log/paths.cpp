// From what single processes say to the job: communicators' ranks become the job's.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "analyzer/import/nccl_log/nccl_log.h"
#include "base/numbers.h"

namespace lockstep::analyzer::nccl_log {
namespace {

// "nccl 0x0012…" as recordings of ours name groups.
std::optional<std::uint64_t> communicator_of(const JobGroup& group) {
  const std::size_t at = group.name.rfind("0x");
  if (at == std::string::npos) return std::nullopt;
  std::string_view digits = std::string_view(group.name).substr(at + 2);
  const auto id = take_number<std::uint64_t>(digits, 16);
  return digits.empty() ? id : std::nullopt;
}

// Of a communicator's ranks, what is known.
struct Members {
  std::map<std::int32_t, std::uint32_t> processes;
  std::vector<std::int32_t> group;  // global, by rank; empty where no trace tells
};

class Placer {
 public:
  Placer(std::int32_t world_size, const std::vector<JobGroup>& groups, const std::vector<Process>& processes,
         const std::vector<Membership>& memberships)
      : world_size_(world_size), processes_(processes), memberships_(memberships) {
    for (const Process& process : processes) global_.push_back(global_rank(process));
    std::map<std::uint64_t, const JobGroup*> named;
    for (const JobGroup& group : groups)
      if (const auto id = communicator_of(group)) named.emplace(*id, &group);
    for (std::size_t i = 0; i < memberships.size(); ++i) {
      const Membership& membership = memberships[i];
      Members& members = members_[key(i)];
      members.processes.emplace(membership.rank, membership.process);
      const auto group = membership.communicator ? named.find(*membership.communicator) : named.end();
      if (group != named.end() && std::cmp_equal(group->second->ranks.size(), membership.size))
        members.group = group->second->ranks;
    }
  }

  std::vector<ChannelPath> paths(const std::vector<std::string>& files) const {
    std::map<std::tuple<Key, std::int32_t, std::int32_t, std::string>, Channels> sums;
    for (std::size_t i = 0; i < memberships_.size(); ++i) {
      for (const auto& [said, channels] : memberships_[i].connections) {
        Channels& sum =
            sums.try_emplace({key(i), said.from, said.to, said.connection}, Channels{0, channels.file})
                .first->second;
        sum.numbers |= channels.numbers;
        sum.file = std::min(sum.file, channels.file);
      }
    }
    std::vector<ChannelPath> paths;
    for (const auto& [what, channels] : sums) {
      const auto& [communicator, from, to, connection] = what;
      paths.push_back(path(communicator, from, to, connection));
      paths.back().channels = std::popcount(channels.numbers);
      paths.back().file = files[channels.file];
    }
    const auto order = [](const ChannelPath& path) { return std::tie(path.from, path.to, path.connection); };
    std::stable_sort(paths.begin(), paths.end(),
                     [&](const ChannelPath& a, const ChannelPath& b) { return order(a) < order(b); });
    return paths;
  }

 private:
  // A communicator of no id is known to one process alone.
  using Key = std::tuple<std::int32_t, std::uint64_t, std::uint64_t>;  // size, id, membership
  Key key(std::size_t index) const {
    const Membership& membership = memberships_[index];
    return membership.communicator ? Key{membership.size, *membership.communicator, 0}
                                   : Key{membership.size, 0, index + 1};
  }

  // As the communicators of the whole job say, if they agree.
  std::optional<std::int32_t> global_rank(const Process& process) const {
    std::set<std::int32_t> ranks;
    for (const std::uint32_t index : process.memberships)
      if (memberships_[index].size == world_size_) ranks.insert(memberships_[index].rank);
    return ranks.size() == 1 ? std::optional(*ranks.begin()) : std::nullopt;
  }

  std::optional<std::int32_t> global_of(std::int32_t size, const Members& members, std::int32_t rank) const {
    if (size == world_size_) return rank;
    const auto process = members.processes.find(rank);
    if (process != members.processes.end() && global_[process->second]) return global_[process->second];
    if (members.group.empty()) return std::nullopt;
    return members.group[static_cast<std::size_t>(rank)];
  }

  ChannelPath path(const Key& communicator, std::int32_t from, std::int32_t to,
                   const std::string& connection) const {
    const std::int32_t size = std::get<0>(communicator);
    const Members& members = members_.at(communicator);
    const std::optional<std::int32_t> global_from = global_of(size, members, from);
    const std::optional<std::int32_t> global_to = global_of(size, members, to);
    ChannelPath path;
    path.ranks_are_global = global_from && global_to && *global_from != *global_to;
    path.from = path.ranks_are_global ? *global_from : from;
    path.to = path.ranks_are_global ? *global_to : to;
    path.communicator_size = size;
    path.connection = connection;
    const Connection parsed = parse_connection(connection).value_or(Connection{});
    path.transport = parsed.transport;
    path.gpu_direct = parsed.gpu_direct;
    path.read = parsed.read;
    const std::string* here = host_of(members, from);
    const std::string* there = host_of(members, to);
    if (parsed.host_is_shared)
      path.same_host = true;
    else if (here != nullptr && there != nullptr)
      path.same_host = *here == *there;
    if (here != nullptr || there != nullptr) path.host = here != nullptr ? *here : *there;
    return path;
  }

  const std::string* host_of(const Members& members, std::int32_t rank) const {
    const auto process = members.processes.find(rank);
    return process == members.processes.end() ? nullptr : &processes_[process->second].host;
  }

  std::int32_t world_size_;
  const std::vector<Process>& processes_;
  const std::vector<Membership>& memberships_;
  std::vector<std::optional<std::int32_t>> global_;  // by process
  std::map<Key, Members> members_;
};

// Of one process.
constexpr std::size_t kMaxCommunicators = 4096;

}  // namespace

// Since 2.22 NCCL connects at the first operation, on another thread, and does not say for which
// communicator: where one alone of the process fits, it is that. Returns how many connections fit several.
std::size_t Log::place_the_rest() {
  for (auto& [owner, thread] : threads_) leave_unplaced(thread, owner.first);
  std::size_t ambiguous = 0;
  for (Process& process : processes_) {
    for (const auto& [said, channels] : process.unplaced) {
      std::uint32_t only = kNone;
      std::size_t fitting = 0;
      // No process is in as many communicators; a log that says so says nothing of whose a connection is.
      if (process.memberships.size() > kMaxCommunicators) fitting = 2;
      for (const std::uint32_t index : process.memberships) {
        if (fitting > 1) break;
        if (!memberships_[index].holds(said)) continue;
        only = index;
        ++fitting;
      }
      if (fitting == 1) {
        Channels& all =
            memberships_[only].connections.try_emplace(said, Channels{0, channels.file}).first->second;
        all.numbers |= channels.numbers;
      } else if (fitting > 1) {
        ++ambiguous;
      }
    }
    process.unplaced.clear();
  }
  return ambiguous;
}

void Log::warn(std::size_t ambiguous, std::int32_t world_size, std::vector<Warning>& warnings) const {
  for (const std::string& file : damaged_)
    warnings.push_back({"file_damaged", fmt::format("{}: damaged; read as far as it goes", file), kNoRank});
  if (!any_channel_) {
    warnings.push_back(
        {"nccl_log_without_channels",
         fmt::format(
             "{}{}: no line says over which connections ranks talk. NCCL prints its channels when a "
             "communicator connects, with NCCL_DEBUG=INFO and INIT in NCCL_DEBUG_SUBSYS (or that unset)",
             files_.front(), files_.size() > 1 ? fmt::format(" and {} more", files_.size() - 1) : ""),
         kNoRank});
  }
  if (ambiguous > 0) {
    warnings.push_back(
        {"nccl_log_ambiguous",
         fmt::format("{}: {} between ranks could be of several communicators, and {} left out; with "
                     "NCCL_RUNTIME_CONNECT=0 NCCL prints channels where it makes their communicator",
                     files_.front(),
                     ambiguous == 1 ? "one connection" : fmt::format("{} connections", ambiguous),
                     ambiguous == 1 ? "is" : "are"),
         kNoRank});
  }
  const auto largest =
      std::max_element(memberships_.begin(), memberships_.end(),
                       [](const Membership& a, const Membership& b) { return a.size < b.size; });
  if (largest != memberships_.end() && largest->size > world_size) {
    warnings.push_back(
        {"nccl_log_of_more_ranks",
         fmt::format("{}: a communicator of {} ranks, of a job of {}: of another job, or traces "
                     "are missing",
                     files_.front(), largest->size, world_size),
         kNoRank});
  }
  if (full_) {
    warnings.push_back(
        {"nccl_log_too_large",
         fmt::format("{}: more processes and connections than are looked at; the first {} count",
                     files_.front(), held_),
         kNoRank});
  }
}

std::vector<ChannelPath> Log::take_paths(std::int32_t world_size, const std::vector<JobGroup>& groups,
                                         std::vector<Warning>& warnings) {
  if (files_.empty()) return {};
  const std::size_t ambiguous = place_the_rest();
  warn(ambiguous, world_size, warnings);
  return Placer(world_size, groups, processes_, memberships_).paths(files_);
}

}  // namespace lockstep::analyzer::nccl_log
