package org.rowankv.sim.embedded;

import org.rowankv.sim.EventCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.rowankv.sim.workload.Counts;

/** The events that a run of some length must contain; otherwise it proves nothing about them. */
final class Expected {
    /** Fewer seeds than these need not cover everything. */
    static final int FULL_RUN = 200;

    private static final List<String> POINTS = List.of(
            "request.version-taken",
            "request.after-version",
            "request.after-tlog",
            "request.before-index",
            "request.before-reply",
            "stream.before-copy",
            "stream.before-add",
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
            "digest.committed",
            "commit.counted",
            "copy.read",
            "join.digested",
            "clean.before-copy",
            "clean.copied",
            "clean.before-drain",
            "clean.before-free",
            "force.before",
            "force.after",
            "checkpoint.begun",
            "checkpoint.chosen",
            "checkpoint.image",
            "checkpoint.before-publish",
            "checkpoint.published");

    /**
     * Points where no other task can run: inside a monitor, or during the start of the store. Or points reached too
     * seldom to require more.
     */
    private static final List<String> REACHED = List.of(
            "clean.horizon-raised",
            "local.fence-raised",
            "local.fence-helps",
            "local.fence-helped",
            "local.fence-marked",
            "local.fence-named",
            "start.from-checkpoint",
            "start.segment-read",
            "start.dead-freed",
            "start.collected",
            "start.taken-over",
            "start.scattered",
            "start.recovered",
            "device.half-written",
            "start.incarnation",
            "start.stored",
            "start.term",
            "configuration.before-change",
            "configuration.after-change",
            "manager.stored",
            "manager.commit",
            "opening.handed-over",
            "opening.answered",
            "opening.digested",
            "opening.collected",
            "opening.complete",
            "opening.opened");

    private static final List<String> OTHERS = List.of(
            "operations",
            "windows judged",
            "crashes",
            "crashes during a start",
            "power cuts",
            "words that power cuts dropped",
            "clean restarts",
            "fences",
            "pairs fenced",
            "fences with holes",
            "fences with segments in quarantine",
            "segments left alone since a sender names them",
            "clients that went silent",
            "old holes cut off",
            "appends that found no posted segment",
            "connections made anew",
            "servers paused",
            "links slowed down",
            "stops on slow links",
            "links cut in one direction",
            "requests lost on cut links",
            "replies lost on cut links",
            "connections that a cut link refused",
            "connections of copies that broke",
            "clocks that jumped ahead",
            "clocks that jumped back",
            "stores with hostile settings",
            "clients that left",
            "transfers",
            "primaries moved",
            "servers emptied",
            "sectors that power cuts tore",
            "sectors that power cuts dropped",
            "forces that a device had reported and lost",
            "devices that lie",
            "areas put back from earlier days",
            "bits that flipped in a word",
            "bits that flipped in a frame",
            "bits that flipped in a header",
            "bits that flipped in an entry",
            "bits that flipped in a superblock",
            "bits that flipped in a table",
            "bits that flipped in a checkpoint",
            "answers that an object cannot be read",
            "damaged entries replaced",
            "lone servers that lost what they had",
            "devices that lied and were replaced",
            "stores that believed a device which had lied",
            "windows judged by honest devices",
            "stores that stopped themselves",
            "requests refused by a store that had stopped itself",
            "starts refused over a device",
            "disks that were full",
            "changes of a full disk refused",
            "crashes during a close",
            "power cuts in the middle of the last writes of a close",
            "clocks that jumped years ahead",
            "clocks that jumped years back",
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
            "change streams subscribed",
            "change streams cut off",
            "change streams resumed at a position",
            "changes received",
            "old values received",
            "acknowledged changes found in a stream",
            "answers with changes lost",
            "losses of changes announced",
            "clients that vanished",
            "sessions that ended with their lease",
            "rests at which all sessions ended",
            "mutations that arrived behind the end of their session",
            "requests answered SESSION_EXPIRED",
            "copies of the running store",
            "copies and comparisons that a crash ended",
            "keys judged in copies",
            "replicas compared while the store ran",
            "rounds of the scrubber",
            "calls that waited for their answers",
            "pauses of waiting callers",
            "segments cleaned",
            "tombstones dropped",
            "checkpoints",
            "starts from a checkpoint");

    private Expected() {}

    /** The points that must be reached. */
    static List<String> points() {
        return Stream.concat(POINTS.stream(), REACHED.stream()).toList();
    }

    /** The events that did not happen. */
    static List<String> missing(EventCounters eventCounters) {
        final List<String> missing = new ArrayList<>();
        final List<String> others =
                Stream.concat(OTHERS.stream(), Counts.expected().stream()).toList();
        for (String what : others) {
            if (eventCounters.of(what) == 0) {
                missing.add(what);
            }
        }
        for (String point : points()) {
            if (eventCounters.of("point " + point) == 0) {
                missing.add("point " + point);
            }
        }
        for (String point : POINTS) {
            if (eventCounters.of("stall at " + point) == 0) {
                missing.add("stall at " + point);
            }
        }
        return missing;
    }
}
