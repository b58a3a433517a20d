// Which rank of which job a process is, from what its launcher put into the environment. Used inside traced
// processes and by `lockstep record` alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::tracer {

struct JobIdentity {
  std::int32_t rank = -1;        // -1: not a rank
  std::int32_t world_size = -1;  // -1: not known
  std::int32_t local_rank = -1;  // -1: not known
  std::int32_t restart = 0;      // how often torchrun had started the workers anew
  std::string_view launcher;     // "torchrun", "Open MPI", "PMI", "Slurm"; empty without a rank
};

// `lookup` returns a variable's value or nullptr, as getenv does.
//
// Launchers in order: torchrun (RANK, WORLD_SIZE, LOCAL_RANK), Open MPI (OMPI_COMM_WORLD_*), PMI (PMI_RANK,
// PMI_SIZE, MPI_LOCALRANKID), Slurm (SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID): the innermost launcher wins,
// since a torchrun or mpirun inside a Slurm job inherits Slurm's variables. A rank that isn't a number, is
// negative or is not below the world size is not taken, and the next launcher is asked.
JobIdentity identify_job(const std::function<const char*(const char*)>& lookup);
JobIdentity identify_job();  // of this process

// A host's name as it may stand in a file name: letters, digits, '.', '_' and '-'; others become '_'.
std::string host_for_file_name(std::string_view host);
std::string host_name();

// Names what CLOCK_MONOTONIC counts from here: processes that give the same name share the clock. The boot of
// the kernel, and the time namespace: "0b6f…-…/time:[4026531834]". Empty where /proc tells neither.
std::string clock_identity();
// Metadata of a trace file with that name.
inline constexpr const char* kClockIdentityKey = "clock_id";

// Metadata of a trace file that took no more events: "EVENTS SINCE WHY", the events that were lost after
// that, ns since 1970, words. Blanks where all was written.
inline constexpr const char* kUnwrittenKey = "unwritten";
inline constexpr std::size_t kUnwrittenRoom = 160;
// Metadata of a file whose process should have had a survivor (inject/survivor/survivor.h) and could not:
// "yes".
inline constexpr const char* kNoSurvivorKey = "no_survivor";
// Of a file whose process had one that ended before it: "SINCE WHY", ns since 1970, words.
inline constexpr const char* kSurvivorEndedKey = "survivor_ended";

// "rank-3.lst"; "rank-3-restart-1.lst" after torchrun started the workers anew.
std::string rank_file_name(std::int32_t rank, std::int32_t restart = 0);
// The rank in such a name, of any attempt; nothing where it is no rank's.
std::optional<std::int32_t> rank_of_file_name(std::string_view name);
// How often torchrun had started the workers anew, by such a name; 0 where it says nothing of that.
std::int32_t restart_of_file_name(std::string_view name);
// "proc-node7-4711.lst"; a second file of one process (it forked or called exec) has "-2" and so on before
// the suffix.
std::string process_file_name(std::string_view host, std::int64_t process, int attempt);
// True for names that the functions above make, and for nothing else.
bool is_trace_file_name(std::string_view name);

}  // namespace lockstep::tracer
