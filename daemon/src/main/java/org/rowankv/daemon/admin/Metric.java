package org.rowankv.daemon.admin;

import java.util.Locale;

/**
 * The metrics of a server, in output order. The table in docs/operations.md is generated from this.
 *
 * <p>Counters of client connections, of the fabric, and of errors count from the start of the process. Those of the
 * engine count from the start of the server in its cluster ({@link #SERVER_START}), and restart at 0 with the next one.
 */
public enum Metric {
    UP(Type.GAUGE, "", "", "Whether the server answered the metrics request (1) or not (0)."),
    SERVING(Type.GAUGE, "", "", "Whether the server serves (1), or joins, starts or stops (0)."),
    TERM(Type.GAUGE, "", "", "Term of the server's configuration; 0 before there is one."),
    SERVER_START(Type.GAUGE, "", "", "The server's incarnation: number of its start in the cluster."),
    LEASE_MARGIN(
            Type.HISTOGRAM, "seconds", "", "What was left of the server's lease when it was renewed; 0: it was over."),
    SHARDS(Type.GAUGE, "", "role", "Shards on this server, as primary or as backup."),

    CLIENT_REQUESTS(Type.COUNTER, "", "operation, status", "Requests answered at the client port."),
    CLIENT_REQUEST_DURATION(
            Type.HISTOGRAM,
            "seconds",
            "operation",
            "Time from reading a request to writing its answer, at the client port."),
    CLIENT_RETRIES_JOINED(Type.COUNTER, "", "", "Retried requests answered from the completion of an earlier attempt."),
    CLIENT_REQUESTS_UNFINISHED(Type.COUNTER, "", "", "Requests abandoned when the client port was closed."),
    CLIENT_SCAN_PAGES(Type.COUNTER, "", "", "Pages of scans sent to clients."),
    CLIENT_CATALOGUE_REQUESTS(Type.COUNTER, "", "", "Client requests to the cache catalogue."),
    CLIENT_RECEIVED(Type.COUNTER, "bytes", "", "Bytes received from clients."),
    CLIENT_SENT(Type.COUNTER, "bytes", "", "Bytes sent to clients."),
    CLIENT_CONNECTIONS(Type.GAUGE, "", "", "Open client connections."),
    CLIENT_CONNECTIONS_ACCEPTED(Type.COUNTER, "", "", "Accepted client connections."),
    CLIENT_ACCEPT_PAUSES(Type.COUNTER, "", "", "Failed accepts, for example because file descriptors are exhausted."),
    CLIENT_HELD(
            Type.GAUGE, "bytes", "", "Memory of incomplete frames, unsent answers and requests at the client port."),
    CLIENT_FRAME_WAITS(Type.COUNTER, "", "", "Times that reading from a client was suspended for lack of memory."),
    CLIENT_FAULTS(Type.COUNTER, "", "fault", "Client connections closed because of a protocol fault."),
    CLIENT_LOOP_CYCLES(Type.COUNTER, "", "", "Duty cycles of the event loops for clients; an idle loop makes none."),
    SESSIONS_OPEN(Type.GAUGE, "", "", "Open client sessions, counted per shard replica on this server."),
    SESSIONS_ENDED(Type.COUNTER, "", "", "Sessions ended on their primaries: unused, or displaced by new ones."),

    TLOG_WRITTEN(Type.COUNTER, "bytes", "", "Bytes of entries written to the worker logs."),
    DIGESTED(Type.COUNTER, "bytes", "", "Bytes of backup log entries applied to the indexes."),
    DIGEST_SETTLED(Type.GAUGE, "", "", "Whether digest and clear sweep have no work left (1)."),
    DIGEST_HOLES_FENCED(Type.COUNTER, "", "", "Senders fenced because of an unfinished reservation."),
    COMMIT_LAG(
            Type.GAUGE, "versions", "", "Versions assigned but not yet covered by CommitVer, over all primary shards."),
    CREDIT_REFUSALS(Type.COUNTER, "", "", "Times that a backup granted too little credit for an entry."),
    BACKUP_RECONNECTS(Type.COUNTER, "", "", "Broken connections to backups."),
    BACKUP_NOT_READY(Type.COUNTER, "", "", "Times that a backup had no segment posted."),
    PEER_CONNECTIONS(Type.GAUGE, "", "", "Open connections from other servers."),
    PEER_FAULTS(
            Type.COUNTER,
            "",
            "fault",
            "Connections with other servers closed because of a protocol fault or a timeout."),
    AGENT_CYCLES(Type.COUNTER, "", "", "Duty cycles of the agents; few per second when idle."),

    SPACE_LIMIT(Type.GAUGE, "bytes", "", "Space for live entries, without the reserve for session openings."),
    SPACE_AVAILABLE(
            Type.GAUGE,
            "bytes",
            "",
            "Part of the limit that is neither taken nor granted; negative if session openings and tombstones exceed it."),
    SEGMENTS(Type.GAUGE, "", "state", "Segments of the area, by state."),
    SEGMENT_SIZE(Type.GAUGE, "bytes", "", "Length of a segment."),
    SEGMENTS_PINNED(Type.GAUGE, "", "", "Segments pinned by a snapshot or a comparison."),
    INDEX_ENTRIES(Type.GAUGE, "", "", "Objects and remembered deletions in the indexes."),
    INDEX_MEMORY(Type.GAUGE, "bytes", "", "Memory of the indexes."),
    CLEANER_SEGMENTS_FREED(Type.COUNTER, "", "", "Segments freed by the cleaner."),
    CLEANER_RELOCATED(Type.COUNTER, "bytes", "", "Bytes of live entries copied by the cleaner."),
    CLEANER_TOMBSTONES_DROPPED(Type.COUNTER, "", "", "Tombstones dropped by the cleaner."),
    OBJECTS_EXPIRED(Type.COUNTER, "", "", "Objects expired on this server as their primary."),
    OBJECTS_SWEPT(Type.COUNTER, "", "", "Expired objects found by the sweep, not by a request."),
    OBJECTS_EVICTED(Type.COUNTER, "", "", "Objects evicted because their caches were above their limits."),
    SCRUBBED(Type.COUNTER, "bytes", "", "Bytes of committed segments read by the scrubber."),
    SCRUB_ROUNDS(Type.COUNTER, "", "", "Complete passes of the scrubber."),
    ENTRIES_DAMAGED(Type.COUNTER, "", "", "Damaged entries found, including dead ones."),
    ENTRIES_REPLACED(Type.COUNTER, "", "", "Damaged entries repaired from another replica."),
    ENTRIES_LOST(Type.COUNTER, "", "", "Damaged entries that were needed and are on no other replica."),

    ERRORS(Type.COUNTER, "", "", "Failures reported in the log, including repeated ones."),
    PROCESS_CPU(Type.COUNTER, "seconds", "", "Processor time of the server's process."),
    PROCESS_HEAP(Type.GAUGE, "bytes", "", "Heap in use.");

    /** Types of OpenMetrics. */
    enum Type {
        GAUGE,
        COUNTER,
        HISTOGRAM;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String PREFIX = "rowan_";

    private final Type type;
    private final String unit;
    private final String labels;
    private final String help;

    Metric(Type type, String unit, String labels, String help) {
        this.type = type;
        this.unit = unit;
        this.labels = labels;
        this.help = help;
    }

    /** The name of the family, with its unit as OpenMetrics requires. */
    String family() {
        return PREFIX + name().toLowerCase(Locale.ROOT) + (unit.isEmpty() ? "" : "_" + unit);
    }

    Type type() {
        return type;
    }

    /** Empty for a count of things. */
    String unit() {
        return unit;
    }

    /** Names of its labels besides {@code server}, for documentation. */
    String labels() {
        return labels;
    }

    String help() {
        return help;
    }

    /** The lines before its samples. */
    String head() {
        return "# TYPE " + family() + " " + type.text() + "\n"
                + (unit.isEmpty() ? "" : "# UNIT " + family() + " " + unit + "\n")
                + "# HELP " + family() + " " + help + "\n";
    }
}
