package org.rowankv.sim.embedded;

import java.util.List;
import java.util.stream.Stream;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.Expected;

/** The events that a run of embedded stores must contain. */
final class StoreExpected {
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
            "device.half-written",
            "start.stored",
            "manager.stored",
            "manager.commit",
            "opening.handed-over",
            "opening.answered",
            "opening.digested",
            "opening.collected",
            "opening.complete",
            "opening.opened");

    private static final List<String> OTHERS = List.of(
            "crashes",
            "crashes during a start",
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
            "links slowed down",
            "stops on slow links",
            "links cut in one direction",
            "requests lost on cut links",
            "replies lost on cut links",
            "connections that a cut link refused",
            "connections of copies that broke",
            "stores with hostile settings",
            "clients that left",
            "transfers",
            "primaries moved",
            "servers emptied",
            "forces that a device had reported and lost",
            "devices that lie",
            "areas put back from earlier days",
            "bits that flipped in a superblock",
            "bits that flipped in a table",
            "bits that flipped in a checkpoint",
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
            "joins completed",
            "callers' threads died",
            "retries that met their original under way",
            "answer FULL",
            "answer CONDITION_FAILED",
            "change streams resumed at a position",
            "old values received",
            "answers with changes lost",
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

    private StoreExpected() {}

    /** The points that must be reached. */
    static List<String> points() {
        return Stream.of(POINTS, REACHED, Expected.POINTS_OF_STARTS)
                .flatMap(List::stream)
                .toList();
    }

    /** The events that did not happen. */
    static List<String> missing(EventCounters met) {
        return Expected.missing(
                met,
                Stream.of(
                                points().stream().map(Expected::reached),
                                POINTS.stream().map(point -> "stall at " + point),
                                Expected.AT_POWER.stream(),
                                OTHERS.stream())
                        .flatMap(names -> names));
    }
}
