// Processes of the job that leave no file, as they tell it themselves (tracer/protocol/notices.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace lockstep::tracer::record {

// Those with one reason.
struct Unrecorded {
  std::string reason;  // in words: "it is statically linked"
  std::uint64_t processes = 0;
  // Some of them: the first few of each.
  std::set<std::string> programs;  // paths; those that are known
  std::set<std::int32_t> ranks;
  std::set<std::uint32_t> users;
  std::set<std::int32_t> process_ids;
  // Not said by themselves (job_programs.h): they may have had nothing that is recorded.
  bool only_seen = false;
};

// Listens from when it is made, beside the recorder's other work, until it is asked.
class NoticeBoard {
 public:
  // Throws std::system_error where there can be no socket or no thread.
  NoticeBoard();
  ~NoticeBoard();
  NoticeBoard(const NoticeBoard&) = delete;
  NoticeBoard& operator=(const NoticeBoard&) = delete;

  enum class FileOf : std::uint8_t { there, missing, may_be_deleted };
  // Of a process, by its id as it knows it itself, and its rank or a negative number.
  using WhereItsFileIs = std::function<FileOf(std::int32_t process, std::int32_t rank)>;
  // What LOCKSTEP_NOTICES is to hold.
  const std::string& name() const;
  // Stops listening. By reason, the most frequent first. Those whose recording began and that are gone are
  // among them unless their file is there; and those that were seen from outside alone.
  std::vector<Unrecorded> take(const WhereItsFileIs& where);
  // Once taken: why it could not listen to the end; empty where it could.
  const std::string& trouble() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "18 processes left no file, so nothing of them is recorded: its file could not be created: Permission
// denied (user 1000; python3.12; ranks 1, 2)". A sentence a reason.
std::vector<std::string> in_words(const std::vector<Unrecorded>& unrecorded);

}  // namespace lockstep::tracer::record
