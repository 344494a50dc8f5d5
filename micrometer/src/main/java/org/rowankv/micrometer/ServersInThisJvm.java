package org.rowankv.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.ServerStatistics;

/** Meters of the engine. Apart, since an application whose servers run elsewhere does not have these classes. */
final class ServersInThisJvm {
    private ServersInThisJvm() {}

    /** Returns the ids of the meters. */
    static List<Meter.Id> bind(MeterRegistry registry, CacheManager manager, Iterable<Tag> tags) {
        final EmbeddedCluster servers = manager.unwrap(EmbeddedCluster.class);
        return List.of(
                gauge(
                        registry,
                        servers,
                        tags,
                        "limit",
                        "bytes",
                        ServerStatistics::spaceLimit,
                        "Bytes of live entries at most"),
                gauge(
                        registry,
                        servers,
                        tags,
                        "available",
                        "bytes",
                        ServerStatistics::spaceAvailable,
                        "The part of the limit left"),
                gauge(
                        registry,
                        servers,
                        tags,
                        "entries",
                        null,
                        ServerStatistics::indexEntries,
                        "Entries, replicas included"),
                counter(registry, servers, tags, "evictions", ServerStatistics::evictedObjects, "Objects evicted"),
                counter(
                        registry,
                        servers,
                        tags,
                        "expirations",
                        ServerStatistics::expiredObjects,
                        "Objects that expired"));
    }

    private static ToDoubleFunction<EmbeddedCluster> sum(ToLongFunction<ServerStatistics> of) {
        return servers -> servers.statistics().stream().mapToLong(of).sum();
    }

    private static Meter.Id gauge(
            MeterRegistry registry,
            EmbeddedCluster servers,
            Iterable<Tag> tags,
            String name,
            @Nullable String unit,
            ToLongFunction<ServerStatistics> of,
            String description) {
        return Gauge.builder("rowan.store." + name, servers, sum(of))
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(registry)
                .getId();
    }

    private static Meter.Id counter(
            MeterRegistry registry,
            EmbeddedCluster servers,
            Iterable<Tag> tags,
            String name,
            ToLongFunction<ServerStatistics> of,
            String description) {
        return FunctionCounter.builder("rowan.store." + name, servers, sum(of))
                .tags(tags)
                .description(description)
                .register(registry)
                .getId();
    }
}
