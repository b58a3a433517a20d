#include "tracer/inject/control/absences.h"

#include <algorithm>

#include "tracer/inject/control/gate.h"

namespace lockstep::tracer::control {

std::string reasons_in_words(const Plan& plan, std::uint32_t word) {
  std::string text;
  const auto add = [&](std::uint32_t bit, const std::string& reason) {
    if ((word & bit) == 0) return;
    text += (text.empty() ? "" : "; ") + reason;
  };
  add(kOutsideSteps, "outside --steps " + (plan.steps.has_value() ? to_string(*plan.steps) : std::string()));
  add(kOutsideTime, "outside the time of --delay and --duration");
  add(kStopped, "stopped by lockstep record --attach");
  add(kFull, "--max-size is reached");
  return text;
}

void note_absence(trace::Writer& writer, std::string_view reason, trace::Nanoseconds begin,
                  trace::Nanoseconds end) {
  trace::Drop note;
  note.begin = begin;
  note.end = std::max(begin, end);
  note.source = writer.intern("control");
  note.reason = writer.intern("not recorded: " + std::string(reason));
  writer.append(note);
}

Absences::Absences(trace::Writer& writer, const Plan& plan, trace::Nanoseconds begin, std::uint32_t word)
    : writer_(writer), plan_(plan), closed_(control::is_closed(word)), since_(begin), reasons_(word) {
  if (!closed_) first_opened_ = begin;
}

void Absences::changed(trace::Nanoseconds time, std::uint32_t word) {
  changes_.push_back(Change{time, word});
}

void Absences::apply(const Change& change) {
  const bool closed = control::is_closed(change.word);
  if (closed == closed_) return;
  closed_ = closed;
  if (closed) {
    since_ = change.time;
    reasons_ = change.word;
    return;
  }
  write(since_, change.time);
  if (first_opened_ == trace::kUnknownTime) first_opened_ = change.time;
}

void Absences::settle(trace::Nanoseconds now, std::uint32_t word) {
  // Threads' records come thread by thread.
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& a, const Change& b) { return a.time < b.time; });
  for (const Change& change : changes_) apply(change);
  // What differed before has come: what differs now is another change, perhaps younger than `now`.
  if (!changes_.empty()) differed_ = false;
  changes_.clear();
  // A change of just now may still be on its way; one that is missing for two drains was lost with a full
  // ring.
  const bool differs = control::is_closed(word) != closed_;
  if (differs && differed_) apply(Change{now, word});
  differed_ = differs && !differed_;
}

void Absences::finish(trace::Nanoseconds now) {
  if (closed_) write(since_, now);
  since_ = now;
}

void Absences::write(trace::Nanoseconds begin, trace::Nanoseconds end) {
  note_absence(writer_, reasons_in_words(plan_, reasons_), begin, end);
}

}  // namespace lockstep::tracer::control
