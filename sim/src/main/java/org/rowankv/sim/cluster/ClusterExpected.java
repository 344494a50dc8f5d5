package org.rowankv.sim.cluster;

import java.util.List;
import java.util.stream.Stream;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.workload.Counts;

/** The events that a run of some length must contain; otherwise it proves nothing about them. */
final class ClusterExpected {
    /** Fewer seeds than these need not cover everything. */
    static final int FULL_RUN = 500;

    /** Points of a server's start and of its configuration store. */
    static final List<String> POINTS = List.of(
            "start.incarnation",
            "start.from-checkpoint",
            "start.segment-read",
            "start.dead-freed",
            "start.recovered",
            "start.collected",
            "start.taken-over",
            "start.scattered",
            "start.term",
            "start.ready",
            "checkpoint.begun",
            "checkpoint.chosen",
            "checkpoint.image",
            "checkpoint.before-publish",
            "checkpoint.published",
            "configuration.before-change",
            "configuration.after-change");

    /** Of a fabric whose receivers land. */
    private static final List<String> LANDED =
            List.of("tcp.arrived", "tcp.named", "tcp.mid-copy", "tcp.before-publish", "tcp.published");

    private static final List<String> LEASED = List.of(
            "leased.granted",
            "leased.filled",
            "leased.fenced",
            "leased.wiped",
            "leased.end-landed",
            "leased.end-fenced",
            "leased.end-unknown");

    /** At the level power only, which a fabric with leases has not. */
    private static final List<String> AT_POWER = List.of(
            "power cuts",
            "words that power cuts dropped",
            "sectors that power cuts tore",
            "sectors that power cuts dropped",
            "servers that stopped themselves over a device");

    private static final List<String> OVER_TCP =
            List.of("connections that broke with bytes on their way", "lives that ended with bytes on their way");

    private static final List<String> BY_WRITES = List.of(
            "parts of a WRITE that came before its end",
            "parts of a WRITE that came behind its sender's end",
            "acknowledgements lost of what has arrived");

    private static final List<String> OTHERS = List.of(
            "operations",
            "windows judged",
            "servers killed",
            "servers killed at a point of their start",
            "servers killed while another was starting",
            "servers that stopped in order",
            "servers paused",
            "bits that flipped in a word",
            "bits that flipped in a frame",
            "bits that flipped in a header",
            "bits that flipped in an entry",
            "answers that an object cannot be read",
            "clusters that ended over damage which nothing mends",
            "clocks that leapt ahead",
            "clocks that leapt back",
            "planned transfers",
            "point opening.handed-over",
            "point former.copied",
            "point former.over",
            "point copy.present",
            "point leave.step",
            "questions to a configuration store that was away",
            "changes of the configuration store that came late",
            "changes of the configuration store whose answer was lost",
            "connections broken",
            "connections broken silently",
            "connections that broke with bytes still to come",
            "connections refused without a listener",
            "attempts answered STALE_TERM",
            "attempts whose server lost its roles",
            "configurations that clients learned",
            "answers replayed",
            "answer OUTCOME_UNKNOWN",
            "change streams subscribed",
            "change streams cut off",
            "change streams that went on behind a start",
            "changes received",
            "acknowledged changes found in a stream",
            "losses of changes announced");

    private ClusterExpected() {}

    /** The events that did not happen, between servers on that fabric. */
    static List<String> missing(EventCounters eventCounters, FabricKind fabric) {
        final boolean isLeased = fabric == FabricKind.RDMA_LEASED;
        final Stream<String> points = Stream.concat(POINTS.stream(), (isLeased ? LEASED : LANDED).stream())
                .map(point -> "point " + point);
        return Stream.of(
                        points,
                        OTHERS.stream(),
                        Counts.expected().stream(),
                        (isLeased ? BY_WRITES : AT_POWER).stream(),
                        (fabric == FabricKind.TCP ? OVER_TCP : List.<String>of()).stream())
                .flatMap(names -> names)
                .filter(what -> eventCounters.of(what) == 0)
                .toList();
    }
}
