// What processes of the job say of themselves that leave no file: one datagram to a socket of the recorder,
// in Linux's abstract namespace, which processes of every user of the host reach. Those that can't be
// recorded say why. One that is gone before it has a file can't: so each says when its recording begins, and
// the recorder looks for the file. Used on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::tracer::notices {

// Holds the socket's name, without the zero that begins it. Unset: nobody listens.
inline constexpr const char* kVariable = "LOCKSTEP_NOTICES";
inline constexpr std::size_t kMaxBytes = 1024;  // of a datagram

struct Notice {
  std::string reason;        // in words: "it is statically linked"; empty: its recording begins
  std::int32_t process = 0;  // where recording begins: its id, as it knows it
  std::int32_t rank = -1;    // -1: not known
  std::string program;       // path of its executable; empty where it is not known
};

// From inside the process. Nothing but system calls by number: no memory is taken, no lock, nothing that a
// sanitizer watches. Where the recorder has not come to read what others said, it tries again for as long as
// `patience_ms`. Reasons are cut after 500 bytes.
void send(const char* reason, std::int32_t rank, int patience_ms) noexcept;

// The same from a thread of ours that needs no descriptor afterwards: where the program has used up all that
// it may have, the thread leaves the program's table of descriptors for an empty one of its own (Linux 5.9).
void send_and_leave_descriptors(const char* reason, std::int32_t rank, int patience_ms) noexcept;

// As send() does: recording of this process begins. Tries again for 5 ms; where the recorder does not keep
// up, it does not hear of it.
void send_beginning(std::int32_t process, std::int32_t rank) noexcept;

// A datagram that one of these made; nothing if it is none.
std::optional<Notice> parse(std::string_view datagram);

}  // namespace lockstep::tracer::notices
