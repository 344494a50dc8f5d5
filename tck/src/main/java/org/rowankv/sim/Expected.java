package org.rowankv.sim;

import java.util.ArrayList;
import java.util.List;

/** What must have happened in a run of some length, or the run has not shown what it is there to show. */
final class Expected {
    /** Fewer seeds than these need not show everything. */
    static final int FULL_RUN = 200;

    private static final List<String> POINTS = List.of(
            "request.version-taken",
            "request.after-version",
            "request.after-tlog",
            "request.before-index",
            "request.before-reply",
            "read.copied",
            "local.before-read",
            "local.after-read",
            "local.after-name",
            "local.after-permission",
            "local.after-help",
            "local.after-hazard",
            "local.after-reserve",
            "local.after-word",
            "local.mid-copy",
            "local.before-publish",
            "local.after-publish",
            "digest.before-frame",
            "commit.counted",
            "copy.read",
            "clean.copied",
            "clean.before-free");

    private static final List<String> OTHERS = List.of(
            "operations",
            "windows judged",
            "crashes",
            "clean restarts",
            "fences",
            "pairs fenced",
            "fences with holes",
            "fences with segments in quarantine",
            "old holes cut off",
            "appends that found no posted segment",
            "connections made anew",
            "agents paused",
            "clients that left",
            "servers emptied",
            "joins completed",
            "callers' threads died",
            "requests lost",
            "replies lost",
            "requests late",
            "requests doubled",
            "requests doubled late",
            "attempts given up",
            "retries that met their original under way",
            "answers replayed",
            "answer OUTCOME_UNKNOWN",
            "answer FULL",
            "answer CONDITION_FAILED",
            "expiries",
            "operation clear",
            "operation touch",
            "segments cleaned",
            "tombstones dropped");

    private Expected() {}

    /** What did not happen. */
    static List<String> missing(Happenings happenings) {
        final List<String> missing = new ArrayList<>();
        for (String what : OTHERS) {
            if (happenings.of(what) == 0) {
                missing.add(what);
            }
        }
        for (String point : POINTS) {
            if (happenings.of("point " + point) == 0) {
                missing.add("point " + point);
            }
            if (happenings.of("stall at " + point) == 0) {
                missing.add("stall at " + point);
            }
        }
        return missing;
    }
}
