// A verdict in words, the same for terminal, Markdown, JUnit and badge.
#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/verdict.h"

namespace lockstep::analyzer {

// "step_time", "busbw of group dp all_reduce"; "–" where a value is not known.
std::string value_text(const FigureVerdict& figure,
                       const Sample& sample);  // "440 ms ± 1.2 ms": mean, and deviation between runs
// What it is held to, resolved: "412 ms = 400 ms + 3 %", "90.0 %", "1.00 ms = 0 + 1.00 ms".
std::string limit_text(const FigureVerdict& figure);
// "+10.0 %", of the baseline or the bound; of a share in points: "-5.0 points".
std::string change_text(const FigureVerdict& figure);
// "worse", "within", "better", "undecided", "missing", "expected", "not compared".
std::string state_text(const FigureVerdict& figure);
// Why it is undecided, and what would decide; why it is missing; the reason that is expected, or was. ""
// where nothing has to be said.
std::string reason_text(const FigureVerdict& figure);
// Of a verdict in which a figure is worse or better than allowed, what became of the step: "a step takes 40.0
// ms longer in the mean: barrier wait +38.2 ms, transfer +1.80 ms". "" where that is not known.
std::string step_text(const Verdict& verdict);
// One sentence: "2 of 4 figures are worse than allowed: step_time, barrier_wait".
std::string headline(const Verdict& verdict);

}  // namespace lockstep::analyzer
