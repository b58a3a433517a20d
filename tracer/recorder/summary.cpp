#include "tracer/recorder/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/counts.h"
#include "base/number_lists.h"
#include "base/shell_words.h"
#include "tracer/recorder/progress.h"

namespace lockstep::tracer::record {

namespace {

constexpr std::size_t kMaxRanksNamed = 8;

template <class Action>
void each_file(const Recording& recording, Action action) {
  for (const auto* files : {&recording.ranks, &recording.processes}) {
    for (const RecordedFile& file : *files) action(file);
  }
}

std::string who(const Recording& recording) {
  std::string text = recording.ranks.empty() ? "" : format_plural(recording.ranks.size(), "rank", "ranks");
  if (recording.processes.empty()) return text;
  const bool alone = recording.ranks.empty();
  return text +
         (alone ? format_plural(recording.processes.size(), "process without a rank",
                                "processes without a rank")
                : " and " + format_plural(recording.processes.size(), "other process", "other processes"));
}

// The steps that the processes say there were.
std::optional<control::StepRange> steps_of(const Recording& recording) {
  std::optional<control::StepRange> all;
  each_file(recording, [&](const RecordedFile& file) {
    if (!file.steps_seen.has_value()) return;
    if (!all.has_value()) all = file.steps_seen;
    all->first = std::min(all->first, file.steps_seen->first);
    all->last = std::max(all->last, file.steps_seen->last);
  });
  return all;
}

// "run: 2 ranks, 10 events, 3.2 kB, in 14.2 s".
std::string what_there_is(const Manifest& manifest, const std::string& run) {
  const Recording& recording = *manifest.recording;
  const bool all = recording.unreadable_files() == 0;
  return fmt::format("{}: {}, {}{}, {}, in {}", run, who(recording),
                     format_plural(recording.events, "event", "events"),
                     all ? "" : " in the files that could be read", readable_bytes(recording.bytes),
                     readable_duration(manifest.end_realtime - manifest.start_realtime));
}

// Whether what was asked for lay beside the job's steps. Stray events (a mark at the end, counters of the
// host) do not make it less so.
bool missed_the_job(const Manifest& manifest) {
  if (!manifest.asked.has_value() || window_in_words(manifest.asked->plan).empty()) return false;
  const Recording& recording = *manifest.recording;
  if (recording.unreadable_files() != 0) return false;  // it may be in there
  if (recording.events == 0) return true;
  std::uint64_t caught = 0;
  each_file(recording, [&](const RecordedFile& file) { caught += file.steps_and_collectives; });
  return caught == 0 && steps_of(recording).has_value();
}

bool has_device_activities(const Recording& recording) {
  bool any = false;
  each_file(recording, [&](const RecordedFile& file) { any |= file.device_activities != 0; });
  return any;
}

// What was asked for lay beside the job's steps: what there was, and what to ask for instead.
void tell_empty_window(const Manifest& manifest, const std::string& run, std::vector<std::string>& lines) {
  const Recording& recording = *manifest.recording;
  const control::Plan& plan = manifest.asked->plan;
  const std::string window = window_in_words(plan);
  // A step that the window cut, or that was never ended, is no whole one.
  lines.push_back(recording.events == 0
                      ? fmt::format("{}: {}, but nothing happened in {}, which was asked for", run,
                                    who(recording), window)
                      : fmt::format("{}, but no whole step and no collective lies in {}, which was asked for",
                                    what_there_is(manifest, run), window));
  const std::optional<control::StepRange> steps = steps_of(recording);
  if (steps.has_value()) {
    lines.push_back(fmt::format(
        "the job had {}: record some of them, as in --steps {}",
        steps->first == steps->last ? fmt::format("step {} only", steps->first)
                                    : fmt::format("steps {} to {}", steps->first, steps->last),
        to_string(control::StepRange{steps->first + (steps->last - steps->first) / 2, steps->last})));
  } else if (plan.steps.has_value()) {
    lines.emplace_back(
        "no step was seen at all: steps are those of PyTorch's optimizers, or of lockstep.step ranges "
        "(docs/instrumentation.md)");
  }
  if (plan.delay_ns == 0 && plan.duration_ns == 0) return;
  lines.push_back(fmt::format(
      "--delay and --duration count from the start of the command, launcher and imports included; it ran for "
      "{}. --steps is what one usually wants",
      readable_duration(manifest.end_realtime - manifest.start_realtime)));
}

// "control.saved.N" of all processes: what --ring was written for, with who it was.
void tell_saves(const Recording& recording, std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 4;
  std::vector<std::pair<std::string, std::string>> saves;  // cause, whose
  each_file(recording, [&](const RecordedFile& file) {
    for (const std::string& cause : file.saved) {
      if (cause != kSavedAtEnd)
        saves.emplace_back(cause, file.rank >= 0 ? fmt::format("rank {}", file.rank) : file.file);
    }
  });
  for (std::size_t i = 0; i < saves.size() && i < kMost; ++i)
    lines.push_back(fmt::format("--ring was written: {} ({})", saves[i].first, saves[i].second));
  if (saves.size() > kMost)
    lines.push_back(fmt::format("--ring was written {} more times: 'saved' in manifest.json says why",
                                saves.size() - kMost));
}

void tell_restarts(const Recording& recording, std::vector<std::string>& lines) {
  if (recording.restarts == 0) return;
  std::string line =
      fmt::format("torchrun started the workers anew {}: the ranks are those of the last attempt",
                  recording.restarts == 1 ? "once" : fmt::format("{} times", recording.restarts));
  if (!recording.earlier_attempts.empty())
    line +=
        fmt::format("; {} of earlier ones stand beside ({}{})",
                    format_plural(recording.earlier_attempts.size(), "file", "files"),
                    recording.earlier_attempts.front(), recording.earlier_attempts.size() > 1 ? ", …" : "");
  lines.push_back(std::move(line));
}

void tell_missing_ranks(const Recording& recording, std::vector<std::string>& lines) {
  if (recording.missing_ranks.empty()) return;
  lines.push_back(fmt::format("of {} ranks, these left no trace: {}", recording.world_size,
                              list_numbers(recording.missing_ranks, kMaxRanksNamed)));
}

// By reason: what is killed afterwards is as if --survive-kill had not been given.
void tell_ended_survivors(const Recording& recording, std::vector<std::string>& lines) {
  struct Those {
    std::size_t count = 0;
    std::int64_t first = 0;
  };
  std::map<std::string, Those> by_reason;
  each_file(recording, [&](const RecordedFile& file) {
    if (!file.survivor_ended.has_value()) return;
    Those& those = by_reason[file.survivor_ended->why];
    if (those.count++ == 0 || file.survivor_ended->since < those.first)
      those.first = file.survivor_ended->since;
  });
  for (const auto& [why, those] : by_reason)
    lines.push_back(
        fmt::format("--survive-kill ended in {} before the process did, {}{}: {}. What is killed there after "
                    "that loses up to its last second",
                    format_plural(those.count, "process", "processes"),
                    those.count == 1 ? "at " : "the first at ", to_utc(those.first), why));
}

void tell_unclosed_files(const Recording& recording, bool survive_kill, std::vector<std::string>& lines) {
  std::size_t open = 0, without_last_moment = 0, after_death = 0, no_survivor = 0;
  each_file(recording, [&](const RecordedFile& file) {
    if (file.no_survivor) ++no_survivor;
    if (!file.is_incomplete()) return;
    const bool had_none = file.no_survivor || file.survivor_ended.has_value();
    ++(file.after_death ? after_death : survive_kill && !had_none ? without_last_moment : open);
  });
  if (open != 0)
    lines.push_back(
        fmt::format("{} not closed: the process was killed or still runs (all but its last moment can be "
                    "read), or closed its descriptors, or the disk was full (nothing that came later is "
                    "there)",
                    format_plural(open, "file was", "files were")));
  if (without_last_moment != 0)
    lines.push_back(fmt::format(
        "{} not closed, and --survive-kill wrote no last moment there: the process still runs, or its "
        "survivor was killed with it (by the out-of-memory killer, the end of a container, pkill -f) or had "
        "not begun (all but the last moment can be read); or the process closed its descriptors, or the disk "
        "was full (nothing that came later is there)",
        format_plural(without_last_moment, "file was", "files were")));
  if (after_death != 0)
    lines.push_back(fmt::format(
        "{} not closed: the process was killed, crashed or left by _exit or exec; all that it had "
        "recorded is there (--survive-kill)",
        format_plural(after_death, "file was", "files were")));
  if (no_survivor != 0)
    lines.push_back(
        fmt::format("--survive-kill could not be had in {} (it takes Linux 5.9, one more process, and no "
                    "sanitizer): what is killed there loses up to its last second",
                    format_plural(no_survivor, "process", "processes")));
  tell_ended_survivors(recording, lines);
}

void tell_losses(const Recording& recording, bool survive_kill, std::vector<std::string>& lines) {
  each_file(recording, [&](const RecordedFile& file) {
    if (!file.ended.empty())
      lines.push_back(fmt::format("{}: recording ended early: {}", file.file, file.ended));
  });
  each_file(recording, [&](const RecordedFile& file) {
    if (!file.unwritten.has_value()) return;
    lines.push_back(fmt::format("{} lost in {} after {}: {}",
                                format_plural(file.unwritten->events, "event was", "events were"), file.file,
                                to_utc(file.unwritten->since), file.unwritten->why));
  });
  each_file(recording, [&](const RecordedFile& file) {
    if (file.cut_to.has_value())
      lines.push_back(
          fmt::format("{} was cut to {} by another program while it was written: some of what "
                      "stood behind that is lost",
                      file.file, format_plural(*file.cut_to, "byte", "bytes")));
  });
  for (const auto& [reason, count] : recording.dropped) {
    if (reason == kNotWritten) continue;  // said of each file
    lines.push_back(fmt::format("lost: {} × {}{}", format_count(count), reason,
                                reason == "ring full" ? " (a larger --buffer-size helps)" : ""));
  }
  tell_restarts(recording, lines);
  tell_missing_ranks(recording, lines);
  tell_unclosed_files(recording, survive_kill, lines);
  each_file(recording, [&](const RecordedFile& file) {
    if (!file.problem.empty()) lines.push_back(file.problem);
  });
}

}  // namespace

std::string window_in_words(const control::Plan& plan) {
  std::string text;
  const auto add = [&](const char* flag, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag, value);
  };
  if (plan.steps.has_value()) add("--steps", to_string(*plan.steps));
  if (plan.delay_ns > 0) add("--delay", control::to_seconds(plan.delay_ns) + "s");
  if (plan.duration_ns > 0) add("--duration", control::to_seconds(plan.duration_ns) + "s");
  return text;
}

std::string wrapped(std::string_view text, std::size_t width) {
  constexpr std::string_view kIndent = "  ";
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // Bytes that continue a character take no column.
    const auto columns = static_cast<std::size_t>(std::count_if(
        word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
    if (column != 0 && column + 1 + columns > width) {
      result.append("\n").append(kIndent);
      column = kIndent.size();
    } else if (column != 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += columns;
  }
  return result;
}

namespace {

// A command that ended this soon is likelier to have failed than to be of a kind that can't be recorded.
constexpr std::int64_t kAtOnce = 10'000'000'000;

// Why a command that did not end well may have left nothing; empty of one that did.
std::string early_end(const Manifest& manifest) {
  constexpr const char* kBefore = "before it was seen to train, communicate, or use CUDA or NVTX";
  if (!manifest.ending.has_value()) return {};
  const Ending& ending = *manifest.ending;
  if (was_interrupted(ending))
    return fmt::format("the command was {} {}", interruption_in_words(ending), kBefore);
  if (ending.signal != 0)
    return fmt::format("the command was ended by {} {}", signal_name(ending.signal), kBefore);
  if (ending.exit_code == 0) return {};
  return fmt::format("the command failed with exit code {} {}", ending.exit_code, kBefore);
}

// Whether a list of sources holds the counters of processes, or comes beside --cpu: then each process that
// our library comes into leaves a file, whatever else is recorded.
bool lists_counters(const Asked& asked) {
  return asked.sources.has_value() && (asked.cpu || control::names_source(*asked.sources, "cpu") ||
                                       control::names_source(*asked.sources, "nvml"));
}

// What processes say of themselves counts more than what may be.
std::vector<std::string> explain_unrecorded(const Manifest& manifest) {
  std::vector<std::string> lines = in_words(manifest.unrecorded);
  lines.front().insert(0, "nothing was recorded: ");
  if (manifest.recording.has_value()) tell_missing_ranks(*manifest.recording, lines);
  return lines;
}

}  // namespace

std::vector<std::string> explain_nothing(const Manifest& manifest, const std::vector<std::string>& reasons) {
  const std::vector<Unrecorded>& unrecorded = manifest.unrecorded;
  if (std::any_of(unrecorded.begin(), unrecorded.end(), [](const Unrecorded& of) { return !of.only_seen; }))
    return explain_unrecorded(manifest);
  std::vector<std::string> lines = reasons;
  const std::string ended = early_end(manifest);
  const bool at_once = manifest.end_realtime - manifest.start_realtime < kAtOnce;
  if (!ended.empty()) lines.insert(at_once ? lines.begin() : lines.end(), ended);
  for (std::string& seen : in_words(unrecorded)) lines.push_back(std::move(seen));
  const bool counters = manifest.asked.has_value() && lists_counters(*manifest.asked);
  if (manifest.asked.has_value()) {
    const Asked& asked = *manifest.asked;
    if (asked.sources.has_value() && !counters)
      lines.push_back(
          fmt::format("--sources {} leaves out what the command may have to tell", *asked.sources));
    if (!asked.python_hook) lines.emplace_back("--python-hook off leaves PyTorch in Python processes alone");
    if (const std::string window = window_in_words(asked.plan); !window.empty() && !counters)
      lines.push_back(fmt::format("{} may have been over, or not begun", window));
  }
  const bool is_clear = lines.size() == 1 && lines.front() == ended;
  if (lines.empty()) {
    lines.push_back(fmt::format(
        "nothing was recorded: no process of the command was seen to train with PyTorch, make a process group, "
        "or use CUDA or NVTX{}",
        counters ? ", and counters are recorded only of those that do" : ""));
    lines.emplace_back(
        "a program that computes without training is recorded by NVTX ranges of its own "
        "(docs/instrumentation.md)");
  } else {
    lines.front().insert(0,
                         is_clear ? "nothing was recorded: " : "nothing was recorded; the reason may be: ");
  }
  if (manifest.recording.has_value()) tell_missing_ranks(*manifest.recording, lines);
  const bool too_soon = is_clear && was_interrupted(*manifest.ending);
  if (too_soon)
    lines.emplace_back(
        "PyTorch is recorded from the first process group, backward pass or optimizer step on: let the "
        "command run until then");
  // Of one that somebody ended at once, nothing on this machine need be in the way.
  if (!too_soon || !at_once) lines.emplace_back("lockstep doctor -- COMMAND says what can be recorded here");
  return lines;
}

std::vector<std::string> summarize(const Manifest& manifest, const std::string& run) {
  const Recording& recording = *manifest.recording;
  std::vector<std::string> lines;
  const bool missed = missed_the_job(manifest);
  if (missed) {
    tell_empty_window(manifest, run, lines);
  } else {
    lines.push_back(what_there_is(manifest, run));
  }
  tell_saves(recording, lines);
  tell_losses(recording, manifest.asked.has_value() && manifest.asked->plan.survive_kill, lines);
  for (std::string& line : in_words(manifest.unrecorded)) lines.push_back(std::move(line));
  if (missed && !has_device_activities(recording)) return lines;
  // Several processes without a rank are analyzed one at a time.
  const bool as_a_whole = !recording.ranks.empty() || recording.processes.size() <= 1;
  lines.push_back(fmt::format("next: lockstep analyze {}",
                              for_shell(as_a_whole ? run : run + "/" + recording.processes.front().file)));
  return lines;
}

}  // namespace lockstep::tracer::record
