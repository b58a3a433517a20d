// What a report lacks: tables and columns come and go with nsys' versions and options.
#pragma once

#include <string>

#include "analyzer/import/nsys/database.h"
#include "analyzer/import/nsys/processes.h"
#include "base/result.h"

namespace lockstep::analyzer::nsys {

// Adds to `report.lacks` what can't be known because a table or a column of it is missing. A table that can't
// be understood without a column that it lacks is not read at all (Database::forget).
void check_schema(Database& database, Report& report);

// After the ranges were read: adds what their missing names would have told.
void check_ranges(Database& database, Report& report);

// After the device tables were read: an error where computation and communication can't be told apart, or no
// kernel is known at all.
Status check_kernels(Database& database, const Report& report);

}  // namespace lockstep::analyzer::nsys
