// Where a command says on how many ranks it runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "cli/analysis/sweep.h"

namespace lockstep::cli {
namespace {

struct Launcher {
  std::array<std::string_view, 2> words;  // the second may be empty
  std::array<std::string_view, 3> flags;  // the first is the one that is added where none is given
};

constexpr auto kLaunchers = std::to_array<Launcher>({
    {{"torchrun", ""}, {"--nproc-per-node", "--nproc_per_node", ""}},
    {{"-m", "torch.distributed.run"}, {"--nproc-per-node", "--nproc_per_node", ""}},
    {{"-m", "torch.distributed.launch"}, {"--nproc-per-node", "--nproc_per_node", ""}},
    {{"accelerate", "launch"}, {"--num_processes", "--num-processes", ""}},
    {{"deepspeed", ""}, {"--num_gpus", "--num-gpus", ""}},
    {{"mpirun", ""}, {"-n", "-np", "--np"}},
    {{"mpiexec", ""}, {"-n", "-np", "--np"}},
    {{"srun", ""}, {"-n", "--ntasks", ""}},
    {{"lockstep", "train"}, {"--ranks", "", ""}},
    {{"lockstep-train", ""}, {"--ranks", "", ""}},
});

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool starts_at(const Launcher& launcher, const std::vector<std::string>& command, std::size_t at) {
  if (name_of(command[at]) != launcher.words[0]) return false;
  return launcher.words[1].empty() || (at + 1 < command.size() && command[at + 1] == launcher.words[1]);
}

// Behind the launcher, what is not a flag begins the program: flags behind that are the program's own.
void set_ranks(const Launcher& launcher, std::size_t at, std::int32_t ranks,
               std::vector<std::string>& command) {
  const std::string number = std::to_string(ranks);
  const std::size_t first = at + (launcher.words[1].empty() ? 1 : 2);
  for (std::size_t i = first; i < command.size(); ++i)
    for (const std::string_view flag : launcher.flags) {
      if (flag.empty() || !command[i].starts_with(flag)) continue;
      if (command[i].size() == flag.size() && i + 1 < command.size()) {
        command[i + 1] = number;
        return;
      }
      if (command[i].size() > flag.size() && command[i][flag.size()] == '=') {
        command[i] = fmt::format("{}={}", flag, number);
        return;
      }
    }
  command.insert(command.begin() + static_cast<std::ptrdiff_t>(first),
                 {std::string(launcher.flags[0]), number});
}

void replace(std::string& word, std::string_view what, const std::string& by) {
  for (std::size_t at = word.find(what); at != std::string::npos; at = word.find(what, at + by.size()))
    word.replace(at, what.size(), by);
}

}  // namespace

Result<std::vector<std::string>> command_on(const std::vector<std::string>& command, std::int32_t ranks,
                                            std::optional<std::int32_t> ranks_per_host) {
  constexpr std::string_view kRanks = "{ranks}", kHosts = "{hosts}";
  const auto names = [&](std::string_view what) {
    return std::ranges::any_of(command,
                               [&](const std::string& word) { return word.find(what) != std::string::npos; });
  };
  if (names(kHosts) && !ranks_per_host)
    return Error{"{hosts} needs --ranks-per-host N, to tell how many hosts so many ranks are"};
  std::vector<std::string> made = command;
  for (std::string& word : made) {
    replace(word, kRanks, std::to_string(ranks));
    if (ranks_per_host)
      replace(word, kHosts, std::to_string((ranks + *ranks_per_host - 1) / *ranks_per_host));
  }
  if (names(kRanks)) return made;
  for (std::size_t at = 0; at < made.size(); ++at)
    for (const Launcher& launcher : kLaunchers)
      if (starts_at(launcher, made, at)) {
        set_ranks(launcher, at, ranks, made);
        return made;
      }
  return Error{
      fmt::format("'{}' does not say on how many ranks it runs: write {{ranks}} where that stands, as in "
                  "`-- ./launch.sh {{ranks}}`",
                  command.front())};
}

}  // namespace lockstep::cli
