package org.rowankv.sim.cluster;

import java.util.List;
import java.util.stream.Stream;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.workload.Counts;

/** The events that a run of some length must contain; otherwise it proves nothing about them. */
final class ClusterExpected {
    /** Fewer seeds than these need not cover everything. */
    static final int FULL_RUN = 500;

    /** Points of a server's start, of its configuration store and of its TCP fabric. */
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
            "configuration.after-change",
            "tcp.arrived",
            "tcp.named",
            "tcp.mid-copy",
            "tcp.before-publish",
            "tcp.published");

    private static final List<String> OTHERS = List.of(
            "operations",
            "windows judged",
            "servers killed",
            "servers killed at a point of their start",
            "servers killed while another was starting",
            "servers that stopped in order",
            "servers paused",
            "power cuts",
            "words that power cuts dropped",
            "sectors that power cuts tore",
            "sectors that power cuts dropped",
            "servers that stopped themselves over a device",
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
            "point leave.step",
            "questions to a configuration store that was away",
            "changes of the configuration store that came late",
            "changes of the configuration store whose answer was lost",
            "connections broken",
            "connections broken silently",
            "connections that broke with bytes on their way",
            "connections that broke with bytes still to come",
            "connections refused without a listener",
            "lives that ended with bytes on their way",
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

    /** The events that did not happen. */
    static List<String> missing(EventCounters eventCounters) {
        return Stream.of(POINTS.stream().map(point -> "point " + point), OTHERS.stream(), Counts.expected().stream())
                .flatMap(names -> names)
                .filter(what -> eventCounters.of(what) == 0)
                .toList();
    }
}
