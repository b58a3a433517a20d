#!/usr/bin/env python3
"""Reads Perfetto exports with Perfetto's own protobuf classes and holds them to the SQLite export of the same run.

usage: check_perfetto.py LOCKSTEP TRACES...

For each of TRACES (whatever `lockstep analyze` reads): exports it in both formats and checks that the trace parses; that
each rank has its process track and each lane its track; that there are as many slices as activities, host ranges, steps
and cause segments together, each begin with its end on its track; that counters have the same points; that times never go back in a sequence; that each
collective of several ranks is one flow through one slice of each of them; that names and categories resolve.

Exit code: 0 good; 1 not, with every fault on stderr; 77 skipped: the perfetto package is not installed, or no TRACES are
there.
"""
import collections
import os
import sqlite3
import subprocess
import sys
import tempfile

SKIPPED = 77


def import_classes():
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
        return perfetto_trace_pb2
    except ImportError as error:
        other = os.environ.get("LOCKSTEP_TEST_PYTHON")
        if other and os.path.exists(other):
            os.environ.pop("LOCKSTEP_TEST_PYTHON")  # once
            os.execv(other, [other] + sys.argv)
        print(f"SKIPPED: no Perfetto classes in {sys.executable} ({error}); scripts/setup fetches them")
        sys.exit(SKIPPED)


class Checker:
    def __init__(self, classes):
        self.classes = classes
        self.faults = []
        self.tracks = {}  # uuid -> descriptor
        self.open = collections.defaultdict(list)  # track -> begun slices
        self.slices = []  # (track, begin, end, name, category, arguments)
        self.points = []  # (counter, value)
        self.flows = collections.defaultdict(list)  # id -> [(process uuid, begin)]
        self.terminated = collections.Counter()

    def expect(self, condition, message):
        if not condition:
            self.faults.append(message)

    def equal(self, what, got, expected):
        self.expect(got == expected, f"{what}: {got}, expected {expected}")

    def read(self, path):
        trace = self.classes.Trace()
        with open(path, "rb") as file:
            trace.ParseFromString(file.read())
        TracePacket, TrackEvent = self.classes.TracePacket, self.classes.TrackEvent
        interned = collections.defaultdict(dict)  # (sequence, kind) -> iid -> text
        last_time, cleared = {}, set()
        for packet in trace.packet:
            sequence = packet.trusted_packet_sequence_id
            if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
                cleared.add(sequence)
            for kind in ("event_names", "event_categories", "debug_annotation_names"):
                for entry in getattr(packet.interned_data, kind):
                    interned[sequence, kind][entry.iid] = entry.name
            for entry in packet.interned_data.debug_annotation_string_values:
                interned[sequence, "strings"][entry.iid] = entry.str.decode()
            if packet.HasField("track_descriptor"):
                self.expect(packet.track_descriptor.uuid not in self.tracks, "a track is described twice")
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if not packet.HasField("track_event"):
                continue
            self.expect(sequence in cleared, f"sequence {sequence} does not clear its state")
            self.expect(packet.timestamp >= last_time.get(sequence, 0), f"time goes back at {packet.timestamp}")
            last_time[sequence] = packet.timestamp
            event = packet.track_event
            self.expect(event.track_uuid in self.tracks, f"event on unknown track {event.track_uuid}")
            if event.type == TrackEvent.TYPE_SLICE_END:
                if not self.open[event.track_uuid]:
                    self.faults.append(f"track {event.track_uuid}: an end without a begin at {packet.timestamp}")
                    continue
                begin, name, category, arguments = self.open[event.track_uuid].pop()
                self.slices.append((event.track_uuid, begin, packet.timestamp, name, category, arguments))
                continue
            if event.type == TrackEvent.TYPE_COUNTER:
                track = self.tracks[event.track_uuid]
                self.expect(track.HasField("counter"), f"a counter's value on track {track.name}")
                self.points.append((track.name, event.double_counter_value))
                continue
            self.equal("event type", event.type, TrackEvent.TYPE_SLICE_BEGIN)
            arguments = {}
            for annotation in event.debug_annotations:
                key = interned[sequence, "debug_annotation_names"][annotation.name_iid]
                field = annotation.WhichOneof("value")
                value = getattr(annotation, field)
                arguments[key] = interned[sequence, "strings"][value] if field == "string_value_iid" else value
            name = interned[sequence, "event_names"][event.name_iid]
            category = interned[sequence, "event_categories"][event.category_iids[0]]
            self.open[event.track_uuid].append((packet.timestamp, name, category, arguments))
            process = self.tracks[event.track_uuid].parent_uuid
            for flow in list(event.flow_ids) + list(event.terminating_flow_ids):
                self.flows[flow].append((process, packet.timestamp))
            for flow in event.terminating_flow_ids:
                self.terminated[flow] += 1
        for track, begun in self.open.items():
            self.equal(f"begins without an end on track {track}", len(begun), 0)

    def compare(self, database):
        def one(sql):
            return database.execute(sql).fetchone()[0]

        processes = {t.uuid: t for t in self.tracks.values() if t.HasField("process")}
        ranks = [row[0] for row in database.execute("SELECT rank FROM ranks ORDER BY rank")]
        self.equal("process tracks", sorted(t.process.pid - 1 for t in processes.values()), ranks)
        for track in self.tracks.values():
            if not track.HasField("process"):
                self.expect(track.parent_uuid in processes, f"track {track.name} has no process")
                self.expect(track.name, "a track has no name")
        # A lane with work on it is a track, or several where its slices overlap.
        lanes = one("SELECT (SELECT count(*) FROM (SELECT DISTINCT rank, lane FROM activities)) + "
                    "(SELECT count(*) FROM (SELECT DISTINCT rank, lane FROM host_ranges))")
        tops = one("SELECT count(DISTINCT rank) FROM segments") + one("SELECT count(DISTINCT rank) FROM steps")
        own = [t for t in self.tracks.values() if not t.HasField("process") and not t.HasField("counter")]
        extra = [t for t in own if t.name.endswith(")") and t.name.rsplit(" (", 1)[-1][:-1].isdigit()]
        self.expect(lanes + tops <= len(own) <= lanes + tops + len(extra),
                    f"{len(own)} tracks for {lanes} lanes and {tops} tracks of causes and steps")

        for category, sql in {
                "cause": "SELECT count(*) FROM segments",
                "compute": "SELECT count(*) FROM activities WHERE class = 'compute'",
                "copy": "SELECT count(*) FROM activities WHERE class = 'copy'",
                "collective": "SELECT count(*) FROM activities WHERE class = 'collective'",
                "p2p": "SELECT count(*) FROM activities WHERE class = 'p2p'",
                "data_loading": "SELECT count(*) FROM host_ranges WHERE kind = 'data_loading'",
        }.items():
            self.equal(f"slices of category {category}", sum(s[4] == category for s in self.slices), one(sql))
        self.equal("slices", len(self.slices),
                   one("SELECT (SELECT count(*) FROM activities) + (SELECT count(*) FROM host_ranges) + "
                       "(SELECT count(*) FROM segments) + (SELECT count(*) FROM steps)"))
        total = one("SELECT coalesce(sum(end_ns - begin_ns), 0) FROM activities WHERE class = 'compute'")
        self.equal("ns of compute", sum(s[2] - s[1] for s in self.slices if s[4] == "compute"), total)

        self.equal("points of counters", sorted(self.points),
                   sorted(database.execute("SELECT name, value FROM counters_named")))
        self.equal("counter tracks", sum(t.HasField("counter") for t in self.tracks.values()),
                   one("SELECT count(*) FROM (SELECT DISTINCT rank, name_id FROM counters)"))

        sizes = sorted(row[0] for row in database.execute(
            "SELECT count(*) FROM collective_ranks GROUP BY collective HAVING count(*) > 1"))
        self.equal("flows, by their number of ranks", sorted(len(f) for f in self.flows.values()), sizes)
        for flow, parts in self.flows.items():
            self.equal(f"ends of flow {flow}", self.terminated[flow], 1)
            self.equal(f"ranks of flow {flow}", len({process for process, _ in parts}), len(parts))
        waits = one("SELECT coalesce(sum(wait_ns), 0) FROM collective_ranks")
        self.equal("ns waited", sum(s[5].get("wait_ns", 0) for s in self.slices), waits)


def check(classes, lockstep, path, folder):
    trace, tables = os.path.join(folder, "run.pftrace"), os.path.join(folder, "run.sqlite")
    for form, output in (("perfetto", trace), ("sqlite", tables)):
        subprocess.run([lockstep, "export", path, "--format", form, "-o", output, "--quiet", "--force"], check=True)
    checker = Checker(classes)
    checker.read(trace)
    database = sqlite3.connect(tables)
    checker.compare(database)
    database.close()
    own = sum(not t.HasField("process") for t in checker.tracks.values())
    print(f"{path}: {len(checker.tracks) - own} ranks, {own} tracks, {len(checker.slices)} slices, "
          f"{len(checker.flows)} flows, {len(checker.faults)} faults")
    for fault in checker.faults:
        print(f"{path}: {fault}", file=sys.stderr)
    return not checker.faults


def main():
    if len(sys.argv) < 3:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    classes = import_classes()
    present = [path for path in sys.argv[2:] if os.path.exists(path)]
    if not present:
        print(f"SKIPPED: none of {', '.join(sys.argv[2:])} is there")
        return SKIPPED
    good = True
    for path in present:
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            good = check(classes, sys.argv[1], path, folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
