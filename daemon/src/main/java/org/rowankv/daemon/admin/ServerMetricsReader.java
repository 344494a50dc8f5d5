package org.rowankv.daemon.admin;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.StartPhase;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.topology.Configuration;

/** Reads the metrics of a server process from the counters of fabric, engine and client port. */
public record ServerMetricsReader(
        String name, ClusterServer cluster, LandingFabric fabric, PortCounters clients, ErrorLog errors) {
    private static final long[] BOUNDS_NS = IntStream.range(0, LatencyHistogram.buckets() - 1)
            .mapToLong(LatencyHistogram::boundNs)
            .toArray();

    public String text() {
        final MetricsText text = new MetricsText().of(name);
        text.value(Metric.UP, 1);
        roles(text);
        clients(text);
        final @Nullable Server serving = cluster.server();
        if (serving != null) {
            engine(text, serving.statistics());
        }
        text.value(Metric.PEER_CONNECTIONS, fabric.acceptedConnections());
        for (WireFault fault : WireFault.values()) {
            text.value(Metric.PEER_FAULTS, fabric.faults(fault), "fault", lower(fault));
        }
        process(text);
        return text.toString();
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private void roles(MetricsText text) {
        final @Nullable Configuration configuration = cluster.configuration();
        final int server = cluster.serverId();
        text.value(Metric.SERVING, cluster.phase() == StartPhase.SERVING ? 1 : 0);
        text.value(Metric.TERM, configuration == null ? 0 : configuration.term());
        final LatencyHistogram margins = cluster.leaseMargins();
        text.durations(Metric.LEASE_MARGIN, BOUNDS_NS, bucket -> margins.count((int) bucket), margins.sumNs());
        if (configuration == null || server < 0) {
            return;
        }
        text.value(Metric.SERVER_START, configuration.incarnations().get(server));
        final long primaries = configuration.shards().stream()
                .filter(shard -> shard.primary() == server)
                .count();
        final long replicas = configuration.shards().stream()
                .filter(shard -> shard.isReplica(server))
                .count();
        text.value(Metric.SHARDS, primaries, "role", "primary");
        text.value(Metric.SHARDS, replicas - primaries, "role", "backup");
    }

    private void clients(MetricsText text) {
        for (Operation operation : Operation.values()) {
            for (Status status : Status.values()) {
                final long answered = clients.answered(operation, status);
                if (answered > 0 || status == Status.OK) {
                    text.value(
                            Metric.CLIENT_REQUESTS, answered, "operation", lower(operation), "status", lower(status));
                }
            }
            text.durations(
                    Metric.CLIENT_REQUEST_DURATION,
                    BOUNDS_NS,
                    bucket -> clients.latencyCount(operation, (int) bucket),
                    clients.latencySumNs(operation),
                    "operation",
                    lower(operation));
        }
        text.value(Metric.CLIENT_RETRIES_JOINED, clients.replayed())
                .value(Metric.CLIENT_REQUESTS_UNFINISHED, clients.unfinished())
                .value(Metric.CLIENT_SCAN_PAGES, clients.pages())
                .value(Metric.CLIENT_CATALOGUE_REQUESTS, clients.catalogueRequests())
                .value(Metric.CLIENT_RECEIVED, clients.receivedBytes())
                .value(Metric.CLIENT_SENT, clients.sentBytes())
                .value(Metric.CLIENT_CONNECTIONS, clients.connections())
                .value(Metric.CLIENT_CONNECTIONS_ACCEPTED, clients.acceptedConnections())
                .value(Metric.CLIENT_ACCEPT_PAUSES, clients.acceptPauses())
                .value(Metric.CLIENT_HELD, clients.heldBytes())
                .value(Metric.CLIENT_FRAME_WAITS, clients.frameWaits())
                .value(Metric.CLIENT_LOOP_CYCLES, clients.cycles());
        for (WireFault fault : WireFault.values()) {
            text.value(Metric.CLIENT_FAULTS, clients.faults(fault), "fault", lower(fault));
        }
    }

    private static void engine(MetricsText text, ServerStatistics of) {
        text.value(Metric.SESSIONS_OPEN, of.openSessions())
                .value(Metric.SESSIONS_ENDED, of.endedSessions())
                .value(Metric.TLOG_WRITTEN, of.tLogBytes())
                .value(Metric.DIGESTED, of.bLogBytes())
                .value(Metric.DIGEST_SETTLED, of.settled() ? 1 : 0)
                .value(Metric.DIGEST_HOLES_FENCED, of.holesFenced())
                .value(Metric.COMMIT_LAG, of.commitLag())
                .value(Metric.CREDIT_REFUSALS, of.creditRefusals())
                .value(Metric.BACKUP_RECONNECTS, of.reconnects())
                .value(Metric.BACKUP_NOT_READY, of.notReady())
                .value(Metric.AGENT_CYCLES, of.agentCycles())
                .value(Metric.SPACE_LIMIT, of.spaceLimit())
                .value(Metric.SPACE_AVAILABLE, of.spaceAvailable())
                .value(Metric.SEGMENTS, of.segments().free(), "state", "free")
                .value(Metric.SEGMENTS, of.segments().using(), "state", "using")
                .value(Metric.SEGMENTS, of.segments().used(), "state", "used")
                .value(Metric.SEGMENTS, of.segments().committed(), "state", "committed")
                .value(Metric.SEGMENT_SIZE, of.segmentLength())
                .value(Metric.SEGMENTS_PINNED, of.pinnedSegments())
                .value(Metric.INDEX_ENTRIES, of.indexEntries())
                .value(Metric.INDEX_MEMORY, of.indexBytes())
                .value(Metric.CLEANER_SEGMENTS_FREED, of.cleanedSegments())
                .value(Metric.CLEANER_RELOCATED, of.relocatedBytes())
                .value(Metric.CLEANER_TOMBSTONES_DROPPED, of.tombstonesDropped())
                .value(Metric.OBJECTS_EXPIRED, of.expiredObjects())
                .value(Metric.OBJECTS_SWEPT, of.sweptObjects())
                .value(Metric.OBJECTS_EVICTED, of.evictedObjects())
                .value(Metric.SCRUBBED, of.scrubbedBytes())
                .value(Metric.SCRUB_ROUNDS, of.scrubRounds())
                .value(Metric.ENTRIES_DAMAGED, of.badEntries())
                .value(Metric.ENTRIES_REPLACED, of.replacedEntries())
                .value(Metric.ENTRIES_LOST, of.lostEntries());
    }

    private void process(MetricsText text) {
        final Duration cpu = ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
        text.value(Metric.ERRORS, errors.count())
                .value(Metric.PROCESS_CPU, cpu.toNanos() / 1e9)
                .value(
                        Metric.PROCESS_HEAP,
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
}
