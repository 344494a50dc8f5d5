package org.rowankv.sim.cluster;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.topology.Configuration;

/**
 * The configuration store of a cluster as its clients see it: slow, sometimes unavailable, sometimes losing the reply
 * to a change that was made, or that will be made later. It never loses stored data.
 */
final class SimCoordinator {
    private final ClusterSimulation simulation;
    private final MemoryConfigurationStore nodes = new MemoryConfigurationStore();
    private final int slowNs;
    private long awayUntilNs;
    /** By server. */
    private final long[] splitUntilNs;

    private long flakyUntilNs;
    private @Nullable Configuration stored;
    private int late;

    SimCoordinator(ClusterSimulation simulation, int slowNs) {
        this.simulation = simulation;
        this.slowNs = slowNs;
        this.splitUntilNs = new long[simulation.plan().servers()];
    }

    /** It is unreachable until then. */
    void away(long untilNs) {
        awayUntilNs = untilNs;
    }

    /** That server does not reach it until then. */
    void awayFrom(SimHost host, long untilNs) {
        splitUntilNs[host.number()] = untilNs;
    }

    /** Until then it loses every third reply. */
    void flaky(long untilNs) {
        flakyUntilNs = untilNs;
    }

    /** Whether changes of senders that have given up are still in flight. */
    boolean hasLateChanges() {
        return late > 0;
    }

    void heal() {
        awayUntilNs = 0;
        flakyUntilNs = 0;
        Arrays.fill(splitUntilNs, 0);
    }

    /** The stored configuration, without delay. */
    @Nullable
    Configuration configuration() {
        return stored;
    }

    /** The existing caches, without delay. */
    List<StoredCache> caches() {
        return CatalogueStore.list(nodes);
    }

    /** @param process the calling process; null for a client outside the cluster */
    ConfigurationStore seenBy(@Nullable SimProcess process, RandomSource random) {
        return new Seen(process, random);
    }

    private boolean change(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        final boolean done = nodes.compareAndSet(path, expectedVersion, bytes, stamp, condition);
        if (done && path.equals(ConfigurationCodec.PATH)) {
            final Configuration next = ConfigurationCodec.decode(bytes);
            final long before = stored == null ? 0 : stored.term();
            if (next.term() <= before) {
                simulation.violation("term " + next.term() + " was stored after term " + before);
            }
            stored = next; // decoded once: each step of the simulation asks for it
            simulation
                    .trace()
                    .tell("term " + next.term() + " is stored, with incarnations " + next.incarnations() + ", manager "
                            + next.manager() + ", without " + next.excluded() + ", shards " + next.shards());
        }
        return done;
    }

    /** The view of one client. On fibers. */
    private final class Seen implements ConfigurationStore {
        private final @Nullable SimProcess process;
        private final RandomSource random;

        Seen(@Nullable SimProcess process, RandomSource random) {
            this.process = process;
            this.random = random;
        }

        private long nowNs() {
            return simulation.timeline().nowNs();
        }

        private void travel() {
            final Fiber own = Fiber.required();
            own.rest(nowNs() + 1 + random.nextInt(slowNs));
            while (process != null && process.pausedUntilNs() > nowNs()) {
                own.rest(process.pausedUntilNs());
            }
            if (awayUntilNs > nowNs()
                    || process != null && splitUntilNs[process.host().number()] > nowNs()) {
                simulation.eventCounters().count("questions to a configuration store that was away");
                throw new ConfigurationStoreException("no reply");
            }
        }

        private void back() {
            if (losesAnswer()) {
                throw new ConfigurationStoreException("the connection was lost");
            }
        }

        private boolean losesAnswer() {
            return flakyUntilNs > nowNs() && random.nextInt(3) == 0;
        }

        @Override
        public @Nullable VersionedNode read(String path) {
            travel();
            final VersionedNode found = nodes.read(path);
            back();
            return found;
        }

        @Override
        public boolean compareAndSet(
                String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
            travel();
            Chaos.point("configuration.before-change");
            if (losesAnswer()) {
                simulation.eventCounters().count("changes of the configuration store that came late");
                late++;
                simulation.scheduler().at(nowNs() + random.nextInt(50 * slowNs), () -> {
                    late--;
                    final boolean unused = change(path, expectedVersion, bytes, stamp, condition);
                });
                throw new ConfigurationStoreException("the connection was lost before the change");
            }
            final boolean done = change(path, expectedVersion, bytes, stamp, condition);
            Chaos.point("configuration.after-change");
            if (losesAnswer()) {
                simulation.eventCounters().count("changes of the configuration store whose answer was lost");
                throw new ConfigurationStoreException("the connection was lost after the change");
            }
            return done;
        }

        @Override
        public boolean delete(String path, long expectedVersion) {
            travel();
            Chaos.point("configuration.before-change");
            final boolean done = nodes.delete(path, expectedVersion);
            Chaos.point("configuration.after-change");
            back();
            return done;
        }

        @Override
        public List<String> list(String prefix) {
            travel();
            final List<String> found = nodes.list(prefix);
            back();
            return found;
        }

        @Override
        public void close() {
            // Stateless.
        }
    }
}
