package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.Machine;
import org.rowankv.server.area.OpenOverrides;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.FileConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.directory.StoreShape;
import org.rowankv.topology.Configuration;

/**
 * The areas and the configuration of an embedded store: in a directory, or in memory. Used by the thread that opens it, and
 * closes it; what is done in between excludes each other.
 */
final class StoreFiles {
    private static final String WRITER = "embedded";

    private final @Nullable StoreDirectory directory;
    private final ConfigurationStore store;
    private final List<Area> areas;
    /** Of a store that was there. */
    private final @Nullable AreaDiscovery found;

    private final RandomSource random;
    private EmbeddedContext.@Nullable Memories memories;
    private Configuration configuration;
    private long configurationVersion;
    private boolean storing;
    /** What an attempt that failed may have stored all the same. */
    private @Nullable Configuration attempted;

    /** Of a store that begins. */
    private StoreFiles(
            @Nullable StoreDirectory directory,
            ConfigurationStore store,
            List<Area> areas,
            RandomSource random,
            Configuration first,
            long configurationVersion) {
        this.directory = directory;
        this.store = store;
        this.areas = areas;
        this.found = null;
        this.random = random;
        this.configuration = first.coldStart(first.incarnations());
        this.configurationVersion = configurationVersion;
    }

    /** Of a store that was there. */
    private StoreFiles(
            @Nullable StoreDirectory directory,
            ConfigurationStore store,
            AreaDiscovery found,
            RandomSource random,
            long configurationVersion) {
        this.directory = directory;
        this.store = store;
        this.found = found;
        this.random = random;
        this.configuration = found.begin();
        this.areas = found.areas();
        this.configurationVersion = configurationVersion;
    }

    static StoreFiles open(EmbeddedSettings settings, EmbeddedContext surroundings) {
        final RandomSource random = surroundings.random();
        final EmbeddedContext.Memories memories = surroundings.memories();
        if (memories != null) {
            final StoreFiles files = inMemories(settings, memories, random);
            files.memories = memories;
            return files;
        }
        return settings.dir() == null
                ? inMemory(settings, random)
                : inDirectory(settings, random, surroundings.areaMachine());
    }

    private static StoreFiles inMemories(
            EmbeddedSettings settings, EmbeddedContext.Memories memories, RandomSource random) {
        final VersionedNode stored = memories.store().read(ConfigurationCodec.PATH);
        if (stored != null && !memories.isNew()) {
            final Configuration found = ConfigurationCodec.decode(stored.bytes());
            return new StoreFiles(
                    null,
                    memories.store(),
                    AreaDiscovery.open(found, new MemoryStorage(settings, memories, found.clusterId(), random), false),
                    random,
                    stored.version());
        }
        final long clusterId = random.nextLong();
        final List<Area> areas = new ArrayList<>();
        for (int server = 0; server < settings.shape().servers(); server++) {
            final AreaSettings areaSettings = anonymousArea(settings, server, clusterId);
            areas.add(Area.create(areaSettings, memories.memory(areaSettings), random));
        }
        final Configuration first = firstConfiguration(settings, clusterId, areas, random);
        final long version = write(memories.store(), first, ConfigurationStore.ABSENT, random);
        return new StoreFiles(null, memories.store(), areas, random, first, version);
    }

    static AreaSettings anonymousArea(EmbeddedSettings settings, int server, long clusterId) {
        return new AreaSettings(
                null,
                settings.capacityBytes(),
                settings.shape().segmentBytes(),
                server,
                clusterId,
                settings.shape().shards(),
                settings.shape().durability(),
                settings.shape().servers(),
                settings.shape().replicas());
    }

    private static StoreFiles inMemory(EmbeddedSettings settings, RandomSource random) {
        final long clusterId = random.nextLong();
        final List<Area> areas = new ArrayList<>();
        for (int server = 0; server < settings.shape().servers(); server++) {
            areas.add(Area.create(anonymousArea(settings, server, clusterId), random));
        }
        final MemoryConfigurationStore store = new MemoryConfigurationStore();
        final Configuration first = firstConfiguration(settings, clusterId, areas, random);
        return new StoreFiles(
                null, store, areas, random, first, write(store, first, ConfigurationStore.ABSENT, random));
    }

    private static StoreFiles inDirectory(EmbeddedSettings settings, RandomSource random, Machine machine) {
        final StoreDirectory directory = StoreDirectory.open(
                java.util.Objects.requireNonNull(settings.dir()),
                new StoreShape(
                        settings.shape().servers(),
                        settings.shape().replicas(),
                        settings.capacityBytes(),
                        settings.shape().shards(),
                        settings.shape().segmentBytes()),
                new OpenOverrides(settings.acceptUnclean(), settings.acceptCopied()),
                random);
        final List<Area> areas = new ArrayList<>();
        ConfigurationStore store = null;
        try {
            if (directory.isNew()) {
                for (int server = 0; server < settings.shape().servers(); server++) {
                    areas.add(Area.create(
                            directory.areaSettings(server, settings.shape().durability()), random, machine));
                }
                store = new FileConfigurationStore(directory.configurationDir());
                final Configuration first = firstConfiguration(settings, directory.clusterId(), areas, random);
                final VersionedNode old = store.read(ConfigurationCodec.PATH);
                final long version =
                        write(store, first, old == null ? ConfigurationStore.ABSENT : old.version(), random);
                directory.markComplete();
                return new StoreFiles(directory, store, areas, random, first, version);
            }
            store = new FileConfigurationStore(directory.configurationDir());
            final VersionedNode stored = store.read(ConfigurationCodec.PATH);
            if (stored == null) {
                throw new StoreOpenException("the configuration in " + directory.configurationDir()
                        + " is missing: put it back from a backup, or start with an empty dir");
            }
            final Configuration found = ConfigurationCodec.decode(stored.bytes());
            requireShape(directory, found, settings);
            final AreaDiscovery opened = AreaDiscovery.open(
                    found,
                    new DirectoryStorage(directory, settings, random, machine),
                    directory.consent().unclean());
            return new StoreFiles(directory, store, opened, random, stored.version());
        } catch (RuntimeException | Error e) {
            closeAll(e, store, areas, directory);
            throw e;
        }
    }

    /** A configuration that was put back may be that of another store. */
    private static void requireShape(StoreDirectory directory, Configuration found, EmbeddedSettings settings) {
        if (found.clusterId() != directory.clusterId()
                || found.serverCount() != settings.shape().servers()
                || found.shardCount() != settings.shape().shards()) {
            throw new StoreOpenException("the configuration in " + directory.configurationDir()
                    + " is that of another store (cluster " + Long.toHexString(found.clusterId()) + ", "
                    + found.serverCount() + " servers, " + found.shardCount() + " shards; this is cluster "
                    + Long.toHexString(directory.clusterId()) + "): put the right one back");
        }
    }

    private static Configuration firstConfiguration(
            EmbeddedSettings settings, long clusterId, List<Area> areas, RandomSource random) {
        final List<Long> incarnations = new ArrayList<>();
        areas.forEach(area -> incarnations.add(0L));
        final Configuration first = Configuration.initial(
                clusterId,
                random.nextLong(),
                settings.shape().servers(),
                settings.shape().replicas(),
                settings.shape().shards(),
                incarnations);
        for (Area area : areas) {
            for (int shard = 0; shard < settings.shape().shards(); shard++) {
                if (first.shard(shard).isReplica(area.serverId())
                        && area.tenures().tenure(shard) == 0) {
                    area.tenures().put(shard, first.shard(shard).epoch());
                }
            }
            area.drain();
        }
        return first;
    }

    private static long write(ConfigurationStore store, Configuration next, long expectedVersion, RandomSource random) {
        final Stamp stamp = new Stamp(WRITER, random.nextLong());
        if (!store.compareAndSet(ConfigurationCodec.PATH, expectedVersion, ConfigurationCodec.encode(next), stamp)) {
            throw new StoreOpenException("the stored configuration was changed by somebody else meanwhile: is the"
                    + " directory used by another process?");
        }
        final VersionedNode written = store.read(ConfigurationCodec.PATH);
        if (written == null || !written.stamp().equals(stamp)) {
            throw new StoreOpenException("the configuration that was just stored is not there any more");
        }
        return written.version();
    }

    /** What is stored; at first what the store starts with, but for the incarnations. */
    synchronized Configuration configuration() {
        return configuration;
    }

    List<Area> areas() {
        return areas;
    }

    /** Where a server's checkpoints are; null when nothing of it outlives the close. */
    @Nullable
    CheckpointStore checkpoints(int server) {
        if (memories != null) {
            return memories.checkpoints(server);
        }
        return directory == null ? null : new CheckpointFiles(directory.checkpointDir(server));
    }

    ConfigurationStore store() {
        return store;
    }

    /**
     * Begins a new incarnation of every server: before anything else is written, since until then the superblocks speak for
     * what was there.
     */
    synchronized void startIncarnations() {
        for (Area area : areas) {
            if (!isMadeAgain(area)) {
                area.superblock().startIncarnation();
            }
            Chaos.point("start.incarnation");
        }
    }

    private boolean isMadeAgain(Area area) {
        return found != null && found.isMadeAgain(area.serverId());
    }

    /**
     * Begins a term in which every server has a new incarnation and every shard a new epoch, and stores it: only then may
     * anything be served, or removed from an area. Before, an area holds what it held, and an attempt that fails leaves it
     * so; afterwards the configuration says which replicas count.
     */
    synchronized Configuration startTerm() {
        final List<Long> incarnations = new ArrayList<>();
        for (Area area : areas) {
            incarnations.add(
                    isMadeAgain(area)
                            ? configuration.incarnations().get(area.serverId()) + 1
                            : area.superblock().incarnation());
        }
        final Configuration next = configuration.withIncarnations(incarnations);
        configurationVersion = write(store, next, configurationVersion, random);
        configuration = next;
        Chaos.point("start.stored");
        if (found != null) {
            found.beginTenures(next);
        }
        for (Area area : areas) {
            if (isMadeAgain(area)) {
                // Not before it is stored that the server is joining: from now on its area is believed.
                area.superblock().startIncarnation(incarnations.get(area.serverId()));
            }
            area.superblock().adoptTerm(next.term());
            // Not before it is stored which of its replicas count.
            area.superblock().acceptIncomplete();
            Chaos.point("start.term");
        }
        return next;
    }

    /**
     * Begins a term in which a server's replicas are complete, and stores it.
     *
     * @return null if a turn inside which this one happens is about to store another
     * @throws RuntimeException if that failed; it may be tried again
     */
    synchronized @Nullable Configuration joined(int server) {
        return change(found -> found.joined(server));
    }

    /**
     * Begins a term in which those shards have new epochs, and stores it: only then may a version of one be given out.
     *
     * @return null if a turn inside which this one happens is about to store another
     * @throws RuntimeException if that failed; it may be tried again
     */
    synchronized @Nullable Configuration renewed(List<Integer> shards) {
        return change(found -> found.renewed(shards));
    }

    private @Nullable Configuration change(UnaryOperator<Configuration> step) {
        if (storing) {
            return null;
        }
        storing = true;
        try {
            final Configuration before = attempted;
            final VersionedNode stored = before == null ? null : store.read(ConfigurationCodec.PATH);
            if (before != null && stored != null && Arrays.equals(stored.bytes(), ConfigurationCodec.encode(before))) {
                configurationVersion = stored.version(); // it was applied after all
                adopt(before);
            }
            final Configuration next = step.apply(configuration);
            attempted = next;
            configurationVersion = write(store, next, configurationVersion, random);
            adopt(next);
            return next;
        } finally {
            storing = false;
        }
    }

    private void adopt(Configuration next) {
        configuration = next;
        attempted = null;
        areas.forEach(area -> area.superblock().adoptTerm(next.term()));
    }

    /** Configuration and catalogue as they are now. Nobody changes the catalogue meanwhile. */
    synchronized Noted note() {
        final Map<String, byte[]> nodes = new TreeMap<>();
        final List<String> paths = new ArrayList<>(CatalogueStore.paths(store));
        paths.add(ConfigurationCodec.PATH);
        for (String path : paths) {
            final VersionedNode node = store.read(path);
            if (node == null) {
                throw new StoreOpenException("the node " + path + " of the configuration store is gone");
            }
            nodes.put(path, node.bytes());
        }
        return new Noted(configuration, nodes, random.nextLong());
    }

    /** What stands beside the areas. */
    record Noted(Configuration configuration, Map<String, byte[]> nodes, long nonce) {
        long term() {
            return configuration.term();
        }

        /** Writes it to an empty directory, durably. */
        void writeTo(Path directory) {
            try (FileConfigurationStore copy = new FileConfigurationStore(directory)) {
                nodes.forEach((path, bytes) -> {
                    if (!copy.compareAndSet(path, ConfigurationStore.ABSENT, bytes, new Stamp(WRITER, nonce))) {
                        throw new StoreOpenException(directory + " is used by somebody else: give another directory");
                    }
                });
            }
        }
    }

    /** Closes each area cleanly that can be; lets go of everything in any case, then throws what failed first. */
    void closeClean() {
        RuntimeException failure = null;
        for (Area area : areas) {
            try {
                area.closeClean();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            closeAfterFailure(failure);
            throw failure;
        }
        store.close();
        if (directory != null) {
            directory.close();
        }
    }

    /**
     * Before a term was begun: as {@link #closeAfterFailure}, but that areas made again are taken away, and what was set
     * aside for them is put back. It may be of use, now that others have been found incomplete.
     */
    void closeAsFound(Throwable failure) {
        areas.forEach(area -> suppress(failure, area::close));
        if (found != null) {
            suppress(failure, found::putBack);
        }
        closeAll(failure, store, List.of(), directory);
    }

    /** Leaves everything as it is on disk, and gives files and lock free. */
    void closeAfterFailure(Throwable failure) {
        closeAll(failure, store, areas, directory);
    }

    private static void closeAll(
            Throwable failure,
            @Nullable ConfigurationStore store,
            List<Area> areas,
            @Nullable StoreDirectory directory) {
        for (Area area : areas) {
            suppress(failure, area::close);
        }
        if (store != null) {
            suppress(failure, store::close);
        }
        if (directory != null) {
            suppress(failure, directory::close);
        }
    }

    /** What else fails while something is given up is kept with the failure. */
    static void suppress(Throwable failure, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}
