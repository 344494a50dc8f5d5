package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
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
 * The areas and the configuration of an embedded store: in a directory, or in memory. Opened and closed by one thread;
 * the methods in between exclude each other.
 */
final class StoreFiles {
    private static final String WRITER = "embedded";

    private final @Nullable StoreDirectory directory;
    private final ConfigurationStore store;
    private final List<Area> areas;
    /** Of an existing store. */
    private final @Nullable AreaDiscovery found;

    private final RandomSource random;
    private EmbeddedContext.@Nullable Memories memories;
    private Configuration configuration;
    private long configurationVersion;
    /** Configuration of a failed attempt, which may be stored nevertheless. */
    private @Nullable Configuration attempted;

    /** A new store. */
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

    /** An existing store. */
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

    static StoreFiles open(EmbeddedSettings settings, EmbeddedContext context) {
        final RandomSource random = context.random();
        final EmbeddedContext.Memories memories = context.memories();
        if (memories != null) {
            final StoreFiles files = inMemories(settings, memories, random);
            files.memories = memories;
            return files;
        }
        return settings.dir() == null
                ? inMemory(settings, random)
                : inDirectory(settings, random, context.areaMachine());
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

    /** A restored configuration may belong to another store. */
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
            throw new StoreOpenException(
                    "another writer has changed the stored configuration: is the directory used by another"
                            + " process?");
        }
        final VersionedNode written = store.read(ConfigurationCodec.PATH);
        if (written == null || !written.stamp().equals(stamp)) {
            throw new StoreOpenException("the configuration that was just stored is missing");
        }
        return written.version();
    }

    /** The stored configuration; before {@link #startTerm}, the one to start with, except for the incarnations. */
    synchronized Configuration configuration() {
        return configuration;
    }

    List<Area> areas() {
        return areas;
    }

    /** Storage of a server's checkpoints; null if nothing of it outlives the close. */
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
     * Begins a new incarnation of every server. Precedes every other write: until then the superblocks describe the
     * previous state.
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
     * Begins a term with a new incarnation of every server and a new epoch of every shard, and stores it. Only then may
     * anything be served, or removed from an area. A failed attempt leaves the areas unchanged; after success the
     * configuration says which replicas count.
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
                // After the server is stored as joining: from now on its area is usable.
                area.superblock().startIncarnation(incarnations.get(area.serverId()));
            }
            area.superblock().adoptTerm(next.term());
            // After it is stored which of its replicas count.
            area.superblock().acceptIncomplete();
            Chaos.point("start.term");
        }
        return next;
    }

    /**
     * Stores another configuration, with a higher term. One thread at a time.
     *
     * @param step of the stored configuration to the next one; null if there is none
     * @return what is stored now
     * @throws RuntimeException if storing failed; it may be retried
     */
    synchronized Configuration change(Function<Configuration, @Nullable Configuration> step) {
        final Configuration before = attempted;
        final VersionedNode stored = before == null ? null : store.read(ConfigurationCodec.PATH);
        if (before != null && stored != null && Arrays.equals(stored.bytes(), ConfigurationCodec.encode(before))) {
            configurationVersion = stored.version(); // the failed attempt was applied
            adopt(before);
        }
        final Configuration next = step.apply(configuration);
        if (next != null) {
            attempted = next;
            configurationVersion = write(store, next, configurationVersion, random);
            adopt(next);
        }
        return configuration;
    }

    private void adopt(Configuration next) {
        configuration = next;
        attempted = null;
        areas.forEach(area -> area.superblock().adoptTerm(next.term()));
    }

    /** Reads the current configuration and catalogue. The caller prevents changes of the catalogue. */
    synchronized SavedNodes saveNodes() {
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
        return new SavedNodes(configuration, nodes, random.nextLong());
    }

    /** Nodes of the configuration store, saved for a snapshot. */
    record SavedNodes(Configuration configuration, Map<String, byte[]> nodes, long nonce) {
        long term() {
            return configuration.term();
        }

        /** Writes them durably to an empty directory. */
        void writeTo(Path directory) {
            try (FileConfigurationStore copy = new FileConfigurationStore(directory)) {
                nodes.forEach((path, bytes) -> {
                    if (!copy.compareAndSet(path, ConfigurationStore.ABSENT, bytes, new Stamp(WRITER, nonce))) {
                        throw new StoreOpenException(directory + " is in use: choose another directory");
                    }
                });
            }
        }
    }

    /** Closes each area cleanly if possible; releases everything in any case, then throws the first failure. */
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
     * Before a term has begun: as {@link #closeAfterFailure}, but removes areas that were created again and restores
     * those set aside. They may be needed, now that others have been found incomplete.
     */
    void closeAsFound(Throwable failure) {
        areas.forEach(area -> suppress(failure, area::close));
        if (found != null) {
            suppress(failure, found::putBack);
        }
        closeAll(failure, store, List.of(), directory);
    }

    /** Releases files and lock, and leaves all content on disk unchanged. */
    void closeAfterFailure(Throwable failure) {
        closeAll(failure, store, areas, directory);
    }

    /** As {@link #closeAfterFailure}, and keeps the lock: a thread may still write to the areas. */
    void closeInUse(Throwable why) {
        closeAll(why, store, areas, null);
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

    /** Adds a secondary failure of a cleanup to the primary one. */
    static void suppress(Throwable failure, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}
