#include "tracer/inject/control/controller.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tracer/inject/control/python_stacks.h"
#include "tracer/inject/control/steps.h"

namespace lockstep::tracer::control {

namespace {

// Never freed: threads outlive everything.
std::atomic<const Plan*> plan_of_process{nullptr};

// "rank-3" of ".../rank-3.lst".
std::string stem_of(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

std::string one_decimal(double value) {
  const std::int64_t tenths = std::llround(value * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

// A reply's fields, separated by tabs.
class Fields {
 public:
  Fields& add(const char* key, const std::string& value) {
    text_ += (text_.empty() ? "" : "\t") + std::string(key) + "=" + value;
    return *this;
  }
  Fields& add(const char* key, std::int64_t value) { return add(key, std::to_string(value)); }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

void prepare_plan() {
  const auto* plan =
      new Plan(plan_from([](const char* name) { return static_cast<const char*>(std::getenv(name)); }));
  // Two copies of NVTX may start at the same time.
  const Plan* none = nullptr;
  if (!plan_of_process.compare_exchange_strong(none, plan, std::memory_order_acq_rel)) {
    delete plan;
    return;
  }
  if (plan->needs_steps()) change_gate(kWatchSteps, 0);
  if (plan->steps.has_value()) record_only_steps(plan->steps->first, plan->steps->last);
  if (plan->delay_ns > 0) change_gate(kOutsideTime, 0);
  keep_first_gate_word();
}

const Plan& the_plan() noexcept {
  static const Plan* const none =
      new Plan;  // NOLINT(bugprone-unhandled-exception-at-new): as long-lived as the other
  const Plan* const plan = plan_of_process.load(std::memory_order_acquire);
  return plan != nullptr ? *plan : *none;
}

trace::WriterOptions writer_options() {
  trace::WriterOptions options;
  const Plan& plan = the_plan();
  if (plan.ring_ns > 0) {
    options.hold_time = plan.ring_ns;
    options.hold_bytes = plan.ring_memory;
    options.memory_limit = plan.ring_memory / 4;
  }
  return options;
}

Controller::Controller(trace::Writer& writer, const ProcessInfo& process, Recording& recording,
                       std::string file)
    : plan_(the_plan()),
      writer_(writer),
      process_(process),
      recording_(recording),
      file_(std::move(file)),
      absences_(writer, plan_, process.first_reading.monotonic, first_gate_word()),
      begin_(process.first_reading.monotonic),
      saved_to_(begin_),
      progress_at_(begin_) {
  if (plan_.start_realtime != 0 && process.first_reading.realtime != trace::kUnknownTime)
    begin_ -= process.first_reading.realtime - plan_.start_realtime;
  now_ = process.first_reading.monotonic;
  for (const auto& [variable, value] : to_environment(plan_)) {
    if (!value.empty()) writer_.set_metadata(variable, value);
  }
  std::string problems;
  for (const std::string& problem : plan_.problems) problems += (problems.empty() ? "" : "; ") + problem;
  if (!problems.empty()) writer_.set_metadata("control.problem", problems);
}

Controller::~Controller() = default;

void Controller::consume(std::uint8_t type, const std::byte* body, std::uint32_t bytes,
                         trace::Nanoseconds time) {
  ControlBody record;
  if (bytes < sizeof record) return;
  std::memcpy(&record, body, sizeof record);
  if (type == static_cast<std::uint8_t>(ControlRecord::gate_changed)) absences_.changed(time, record.word);
  ++steps_begun_;
  if (!steps_.begin(record.step, time, plan_.ring_factor) || plan_.ring_ns == 0) return;
  const double times = static_cast<double>(steps_.last_duration()) / static_cast<double>(steps_.median());
  save_cause_ = "step " + std::to_string(steps_.last_number()) + " took " + one_decimal(times) +
                " times the median step";
}

void Controller::change(trace::Nanoseconds now, std::uint32_t set, std::uint32_t clear) {
  if (change_gate(set, clear)) absences_.changed(now, gate_word());
}

void Controller::keep_time(trace::Nanoseconds now) {
  if (!time_is_ours_ || (plan_.delay_ns == 0 && plan_.duration_ns == 0)) return;
  const trace::Nanoseconds opens = begin_ + plan_.delay_ns;
  // With --steps the time counts from the first step that is recorded.
  const trace::Nanoseconds counted_from = plan_.steps.has_value() ? absences_.first_opened() : opens;
  const bool over =
      plan_.duration_ns > 0 && counted_from != trace::kUnknownTime && now >= counted_from + plan_.duration_ns;
  if (over) {
    change(now, kOutsideTime, 0);
  } else if (now >= opens) {
    change(now, 0, kOutsideTime);
  }
}

void Controller::keep_size() {
  if (plan_.max_bytes == 0 || (gate_word() & kFull) != 0 || writer_.bytes_written() < plan_.max_bytes) return;
  change(now_, kFull, 0);
  writer_.set_metadata("control.ended",
                       "the file reached --max-size (" + std::to_string(plan_.max_bytes) + " bytes)");
}

std::uint64_t Controller::count_progress() const {
  using trace::EventKind;
  return writer_.events_appended(EventKind::collective) + writer_.events_appended(EventKind::step) +
         writer_.events_appended(EventKind::device_activity) +
         // That a step began is no progress yet: what comes before it may take long.
         (steps_begun_ > 0 ? steps_begun_ - 1 : 0);
}

void Controller::notice_progress(trace::Nanoseconds now) {
  const std::uint64_t progress = count_progress();
  // While nothing is recorded, collectives can't be seen to end: that is no silence of a job without steps.
  const bool sees_steps = (gate_word() & kWatchSteps) != 0 && steps_begun_ > 0;
  if (progress != progress_ || (absences_.is_closed() && !sees_steps)) progress_at_ = now;
  progress_ = progress;
}

std::uint64_t Controller::save(const std::string& cause, trace::Nanoseconds now) {
  const std::uint64_t before = writer_.bytes_written();
  recording_.note_open_ranges();
  progress_ = count_progress();  // what a source writes because it is asked is no sign of life
  // What is buffered may push something out: only then is known what is missing.
  (void)writer_.flush().ok();
  // The clock is noted all the time, and is nothing that anybody waits for.
  using trace::EventKind;
  const std::uint64_t events = writer_.events_appended() -
                               writer_.events_appended(EventKind::clock_snapshot) -
                               writer_.events_appended(EventKind::drop);
  const bool is_empty = std::exchange(saved_events_, events) == events;
  if (plan_.ring_ns == 0) return is_empty ? 0 : writer_.bytes_written() - before;
  const std::uint64_t held = is_empty ? 0 : writer_.bytes_held();
  const trace::Nanoseconds since = writer_.held_since();
  if (since != trace::kUnknownTime && since > saved_to_)
    note_absence(writer_, "before the last " + to_seconds(plan_.ring_ns) + " s that --ring keeps", saved_to_,
                 since);
  writer_.set_metadata("control.saved." + std::to_string(++saves_), cause);
  (void)writer_.release_held().ok();
  saved_to_ = now;
  return held;
}

std::string Controller::answer(Request request, trace::Nanoseconds now) {
  Fields fields;
  switch (request) {
    case Request::unknown:
      return std::move(fields.add("error", "unknown request")).text();
    case Request::status:
      break;
    case Request::start:
      if ((gate_word() & kFull) != 0) {
        fields.add("error", "the file has reached --max-size");
        break;
      }
      time_is_ours_ = false;
      record_all_steps();
      change(now, 0, kOutsideSteps | kOutsideTime | kStopped);
      break;
    case Request::stop:
      change(now, kStopped, 0);
      break;
    case Request::snapshot:
      fields.add("written", static_cast<std::int64_t>(save("asked for by lockstep record --attach", now)));
      if (writer_.events_lost() != 0) fields.add("error", "its file takes no more");
      break;
    case Request::hang:
      if (const std::string text = process_.run_folder + "/" + stem_of(file_) + ".python-stacks";
          write_python_stacks(text)) {
        fields.add("python", stem_of(file_) + ".python-stacks");
      }
      writer_.set_metadata("hang", std::to_string(now) + " " + std::to_string(progress_at_));
      save("a hang: no step and no collective for " +
               one_decimal(static_cast<double>(now - progress_at_) * 1e-9) + " s",
           now);
      break;
  }
  if (process_.job.rank >= 0 && !process_.is_helper) fields.add("rank", process_.job.rank);
  fields.add("process", process_.process);
  fields.add("recording", is_recording() ? "yes" : "no");
  if (!is_recording()) fields.add("why", reasons_in_words(plan_, gate_word()));
  if (const std::int64_t step = current_step(); step != kNoStep) fields.add("step", step);
  if (const std::int64_t median = steps_.median(); median > 0) fields.add("median_step_ns", median);
  fields.add("progress", static_cast<std::int64_t>(progress_));
  fields.add("silent_ns", now - progress_at_);
  fields.add("events", static_cast<std::int64_t>(writer_.events_appended()));
  fields.add("bytes", static_cast<std::int64_t>(writer_.bytes_written()));
  if (plan_.ring_ns > 0) {
    fields.add("held", static_cast<std::int64_t>(writer_.bytes_held()));
    fields.add("saves", static_cast<std::int64_t>(saves_));
  }
  return std::move(fields).text();
}

void Controller::end_drain(trace::Nanoseconds now, bool first_moments) {
  now_ = now;
  absences_.settle(now, gate_word());
  keep_time(now);
  keep_size();
  notice_progress(now);
  // One drain later: sources that bring the records of several threads into order first have not seen the end
  // of the slow step before.
  if (!save_due_.empty()) save(save_due_, now);
  save_due_ = std::exchange(save_cause_, {});
  // A process that lives for a moment needs no socket.
  if (first_moments) return;
  if (!endpoint_tried_) {
    endpoint_tried_ = true;
    endpoint_.open(process_.run_folder, stem_of(file_), process_.host);
  }
  endpoint_.serve([&](Request request) { return answer(request, now); });
  absences_.settle(now, gate_word());
}

void Controller::finish(trace::Nanoseconds now) {
  // Where nothing was recorded the recorder says what there would have been.
  const bool window = plan_.steps.has_value() || plan_.delay_ns > 0 || plan_.duration_ns > 0;
  if (const std::optional<StepRange> seen = seen_steps(); window && seen.has_value())
    writer_.set_metadata("control.steps_seen", to_string(*seen));
  endpoint_.close();
  absences_.settle(now, gate_word());
  absences_.finish(now);
  write_ring("the process ended", now);
}

void Controller::write_ring(const std::string& last_cause, trace::Nanoseconds now) {
  if (plan_.ring_ns == 0) return;
  for (const std::string& cause : {save_due_, save_cause_}) {
    if (!cause.empty()) save(cause, now);
  }
  save(last_cause, now);
}

void Controller::finish_after_death(trace::Nanoseconds now) {
  absences_.settle(now, gate_word());
  absences_.finish(now);
  write_ring("the process was killed, crashed, or left by _exit or exec", now);
}

}  // namespace lockstep::tracer::control
