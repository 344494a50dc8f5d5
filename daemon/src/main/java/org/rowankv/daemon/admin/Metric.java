package org.rowankv.daemon.admin;

import java.util.Locale;

/**
 * Every metric of a server, in the order in which they are told. The table in docs/OPERATIONS.md is made of this.
 *
 * <p>Counters of clients' connections, of the fabric, and of errors count from the start of the process; those of the engine
 * from the start of the server among its cluster ({@link #SERVER_START}), and begin again at 0 with the next one.
 */
public enum Metric {
    UP(Type.GAUGE, "", "", "Whether the server answered when it was asked for its metrics (1), or not (0)."),
    SERVING(Type.GAUGE, "", "", "Whether it serves (1), or joins, starts or stops (0)."),
    TERM(Type.GAUGE, "", "", "Term of the configuration in which it serves or starts; 0 before there is one."),
    SERVER_START(Type.GAUGE, "", "", "Number of the server's start among its cluster: its incarnation."),
    SHARDS(Type.GAUGE, "", "role", "Shards that it holds, as their primary or as a backup."),

    CLIENT_REQUESTS(Type.COUNTER, "", "operation, status", "Requests answered at the client port."),
    CLIENT_REQUEST_DURATION(
            Type.HISTOGRAM,
            "seconds",
            "operation",
            "From the reading of a request to the writing of its answer, at the client port."),
    CLIENT_RETRIES_JOINED(
            Type.COUNTER, "", "", "Requests answered from the memory of an earlier attempt with the same id."),
    CLIENT_REQUESTS_UNFINISHED(Type.COUNTER, "", "", "Requests given up when the client port was closed."),
    CLIENT_SCAN_PAGES(Type.COUNTER, "", "", "Pages of scans sent to clients."),
    CLIENT_CATALOGUE_REQUESTS(Type.COUNTER, "", "", "Requests of clients to the catalogue of caches."),
    CLIENT_RECEIVED(Type.COUNTER, "bytes", "", "Read from clients."),
    CLIENT_SENT(Type.COUNTER, "bytes", "", "Written to clients."),
    CLIENT_CONNECTIONS(Type.GAUGE, "", "", "Connections of clients that are open."),
    CLIENT_CONNECTIONS_ACCEPTED(Type.COUNTER, "", "", "Connections of clients that were accepted."),
    CLIENT_ACCEPT_PAUSES(
            Type.COUNTER, "", "", "Times that no client could be accepted, as when descriptors are exhausted."),
    CLIENT_HELD(
            Type.GAUGE,
            "bytes",
            "",
            "Memory of unfinished frames, unsent answers, and keys and values of requests at the client port."),
    CLIENT_FRAME_WAITS(
            Type.COUNTER, "", "", "Times that a client was not read further, for lack of memory for its frame."),
    CLIENT_FAULTS(Type.COUNTER, "", "fault", "Connections of clients closed for what came over them."),
    CLIENT_LOOP_TURNS(
            Type.COUNTER, "", "", "Turns of the event loops that serve clients; one with nothing to do makes none."),
    SESSIONS_OPEN(Type.GAUGE, "", "", "Sessions of clients open at the shards' replicas here, each shard counted."),
    SESSIONS_ENDED(
            Type.COUNTER,
            "",
            "",
            "Of those, on their primaries: ended because no request used them, or to give their places to others."),

    TLOG_WRITTEN(Type.COUNTER, "bytes", "", "Entries written to the logs of the workers."),
    DIGESTED(Type.COUNTER, "bytes", "", "Entries of the backup log that took effect."),
    DIGEST_SETTLED(Type.GAUGE, "", "", "Whether digest and the sweep behind clears had nothing left to do (1)."),
    DIGEST_HOLES_FENCED(Type.COUNTER, "", "", "Senders cut off because they left a reservation unfinished."),
    COMMIT_LAG(
            Type.GAUGE,
            "versions",
            "",
            "Versions given out and not covered by CommitVer yet, of all shards whose primary it is."),
    CREDIT_REFUSALS(Type.COUNTER, "", "", "Times that a backup granted less credit than an entry needed."),
    BACKUP_RECONNECTS(Type.COUNTER, "", "", "Connections to backups that were given up."),
    BACKUP_NOT_READY(Type.COUNTER, "", "", "Times that a backup had no segment posted."),
    PEER_CONNECTIONS(Type.GAUGE, "", "", "Connections that other servers have opened to it."),
    PEER_FAULTS(
            Type.COUNTER,
            "",
            "fault",
            "Connections with other servers closed for what came, or did not come, over them."),
    AGENT_TURNS(Type.COUNTER, "", "", "Turns of the agents; few a second while there is nothing to do."),

    SPACE_LIMIT(Type.GAUGE, "bytes", "", "What live entries may take, openings of sessions apart."),
    SPACE_AVAILABLE(
            Type.GAUGE,
            "bytes",
            "",
            "Of that, what is neither taken nor granted as credit; below 0 by openings of sessions and by what ends something."),
    SEGMENTS(Type.GAUGE, "", "state", "Segments of the area."),
    SEGMENT_SIZE(Type.GAUGE, "bytes", "", "Length of a segment."),
    SEGMENTS_PINNED(Type.GAUGE, "", "", "Segments that a copy or a comparison keeps from the cleaner."),
    INDEX_ENTRIES(Type.GAUGE, "", "", "Objects and remembered deletions in the indexes."),
    INDEX_MEMORY(Type.GAUGE, "bytes", "", "Memory of the indexes."),
    CLEANER_SEGMENTS_FREED(Type.COUNTER, "", "", "Segments freed by the cleaner."),
    CLEANER_RELOCATED(Type.COUNTER, "bytes", "", "Live entries copied by the cleaner."),
    CLEANER_TOMBSTONES_DROPPED(Type.COUNTER, "", "", "Tombstones dropped by the cleaner."),
    OBJECTS_EXPIRED(Type.COUNTER, "", "", "Objects whose lifetime ended here, on the primary."),
    OBJECTS_SWEPT(Type.COUNTER, "", "", "Of those, found by the sweep and not by a request."),
    OBJECTS_EVICTED(Type.COUNTER, "", "", "Objects ended here because their caches were above their limits."),
    SCRUBBED(Type.COUNTER, "bytes", "", "Committed segments that were read again."),
    SCRUB_ROUNDS(Type.COUNTER, "", "", "Times that all committed segments were read again."),
    ENTRIES_DAMAGED(Type.COUNTER, "", "", "Entries found damaged, dead ones included."),
    ENTRIES_REPLACED(Type.COUNTER, "", "", "Of those, taken from another replica."),
    ENTRIES_LOST(Type.COUNTER, "", "", "Of those, needed and on no other replica."),

    ERRORS(Type.COUNTER, "", "", "Failures reported in the log, repeated ones included."),
    PROCESS_CPU(Type.COUNTER, "seconds", "", "Processor time of the server's process."),
    PROCESS_HEAP(Type.GAUGE, "bytes", "", "Heap in use.");

    /** As OpenMetrics names them. */
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

    /** The name of the family, with its unit as OpenMetrics wants it. */
    String family() {
        return PREFIX + name().toLowerCase(Locale.ROOT) + (unit.isEmpty() ? "" : "_" + unit);
    }

    Type type() {
        return type;
    }

    /** Empty if it counts things. */
    String unit() {
        return unit;
    }

    /** Names of its labels beside {@code server}, for people. */
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
