// One function for each kind of table of a report.
#pragma once

#include "analyzer/import/nsys/database.h"
#include "analyzer/import/nsys/processes.h"

namespace lockstep::analyzer::nsys {

void read_strings(Database& database, Report& report);
void read_session(Database& database, Report& report);
// Kernels, copies, memory set, whole graphs; waits last: they go to devices that do something.
void read_device_tables(Database& database, Report& report);
// Calls that launch work, and NVTX ranges.
void read_launches(Database& database, bool keep_all, Report& report);
void read_ranges(Database& database, bool keep_all, Report& report);
void read_thread_names(Database& database, Report& report);

}  // namespace lockstep::analyzer::nsys
