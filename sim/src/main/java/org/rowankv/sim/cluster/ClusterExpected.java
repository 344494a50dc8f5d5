package org.rowankv.sim.cluster;

import java.util.List;
import java.util.stream.Stream;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.Expected;

/** The events that a run of clusters must contain. */
final class ClusterExpected {
    /** Fewer seeds than these need not cover everything. */
    static final int FULL_RUN = 500;

    /** Beside those of all starts. */
    private static final List<String> POINTS = List.of(
            "start.ready",
            "checkpoint.begun",
            "checkpoint.chosen",
            "checkpoint.image",
            "checkpoint.before-publish",
            "checkpoint.published");

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

    private static final List<String> ON_DEVICES = List.of("servers that stopped themselves over a device");

    private static final List<String> OVER_TCP =
            List.of("connections that broke with bytes on their way", "lives that ended with bytes on their way");

    private static final List<String> BY_WRITES = List.of(
            "parts of a WRITE that came before its end",
            "parts of a WRITE that came behind its sender's end",
            "acknowledgements lost of what has arrived");

    private static final List<String> OTHERS = List.of(
            "servers killed",
            "servers killed at a point of their start",
            "servers killed while another was starting",
            "servers that stopped in order",
            "clusters that ended over damage which nothing mends",
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
            "change streams that went on behind a start");

    private ClusterExpected() {}

    /** The events that did not happen, between servers on that fabric. */
    static List<String> missing(EventCounters met, FabricKind fabric) {
        final boolean isLeased = fabric == FabricKind.RDMA_LEASED;
        return Expected.missing(
                met,
                Stream.of(
                                Stream.concat(POINTS.stream(), (isLeased ? LEASED : LANDED).stream())
                                        .map(Expected::reached),
                                OTHERS.stream(),
                                // A fabric with leases has no level power.
                                isLeased
                                        ? BY_WRITES.stream()
                                        : Stream.concat(Expected.AT_POWER.stream(), ON_DEVICES.stream()),
                                fabric == FabricKind.TCP ? OVER_TCP.stream() : Stream.<String>of())
                        .flatMap(names -> names));
    }
}
