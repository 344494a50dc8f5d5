package org.rowankv.server.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.membership.ConfigurationCodec;
import org.rowankv.server.membership.ConfigurationStore;
import org.rowankv.server.membership.FileConfigurationStore;
import org.rowankv.server.membership.MemoryConfigurationStore;
import org.rowankv.server.membership.Stamp;
import org.rowankv.server.membership.Versioned;
import org.rowankv.server.pm.Area;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.Machine;
import org.rowankv.server.pm.OpenConsent;
import org.rowankv.server.pm.StoreDirectory;
import org.rowankv.server.pm.StoreOpenException;
import org.rowankv.server.pm.StoreShape;

/** The areas and the configuration of an embedded store: in a directory, or in memory. Used by the thread that opens it. */
final class StoreFiles {
    private static final String WRITER = "embedded";

    private final @Nullable StoreDirectory directory;
    private final ConfigurationStore store;
    private final List<Area> areas;
    private final RandomSource random;
    private Surroundings.@Nullable Memories memories;
    private Configuration configuration;
    private long configurationVersion;

    private StoreFiles(
            @Nullable StoreDirectory directory,
            ConfigurationStore store,
            List<Area> areas,
            RandomSource random,
            Configuration configuration,
            long configurationVersion) {
        this.directory = directory;
        this.store = store;
        this.areas = areas;
        this.random = random;
        this.configuration = configuration;
        this.configurationVersion = configurationVersion;
    }

    static StoreFiles open(EmbeddedSettings settings, Surroundings surroundings) {
        final RandomSource random = surroundings.random();
        final Surroundings.Memories memories = surroundings.memories();
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
            EmbeddedSettings settings, Surroundings.Memories memories, RandomSource random) {
        final Versioned stored = memories.store().read(ConfigurationCodec.PATH);
        final Configuration found = stored == null ? null : ConfigurationCodec.decode(stored.bytes());
        final long clusterId = found == null ? random.nextLong() : found.clusterId();
        final List<Area> areas = new ArrayList<>();
        for (int server = 0; server < settings.servers(); server++) {
            final AreaSettings areaSettings = anonymousArea(settings, server, clusterId);
            areas.add(
                    memories.isNew()
                            ? Area.create(areaSettings, memories.memory(areaSettings), random)
                            : Area.open(areaSettings, memories.memory(areaSettings)));
        }
        if (stored != null && found != null) {
            return new StoreFiles(null, memories.store(), areas, random, found, stored.version());
        }
        final Configuration first = firstConfiguration(settings, clusterId, areas, random);
        final long version = write(memories.store(), first, ConfigurationStore.ABSENT, random);
        return new StoreFiles(null, memories.store(), areas, random, first, version);
    }

    private static AreaSettings anonymousArea(EmbeddedSettings settings, int server, long clusterId) {
        return new AreaSettings(
                null,
                settings.capacityBytes(),
                settings.segmentBytes(),
                server,
                clusterId,
                settings.shards(),
                settings.durability(),
                settings.servers(),
                settings.replicas());
    }

    private static StoreFiles inMemory(EmbeddedSettings settings, RandomSource random) {
        final long clusterId = random.nextLong();
        final List<Area> areas = new ArrayList<>();
        for (int server = 0; server < settings.servers(); server++) {
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
                        settings.servers(),
                        settings.replicas(),
                        settings.capacityBytes(),
                        settings.shards(),
                        settings.segmentBytes()),
                new OpenConsent(settings.acceptUnclean(), settings.acceptCopied()),
                random);
        final List<Area> areas = new ArrayList<>();
        ConfigurationStore store = null;
        try {
            for (int server = 0; server < settings.servers(); server++) {
                final AreaSettings areaSettings = directory.areaSettings(server, settings.durability());
                areas.add(
                        directory.isNew()
                                ? Area.create(areaSettings, random, machine)
                                : Area.open(areaSettings, directory.consent(), machine));
            }
            store = new FileConfigurationStore(directory.configurationDir());
            if (directory.isNew()) {
                final Configuration first = firstConfiguration(settings, directory.clusterId(), areas, random);
                final Versioned old = store.read(ConfigurationCodec.PATH);
                final long version =
                        write(store, first, old == null ? ConfigurationStore.ABSENT : old.version(), random);
                directory.markComplete();
                return new StoreFiles(directory, store, areas, random, first, version);
            }
            final Versioned stored = store.read(ConfigurationCodec.PATH);
            if (stored == null) {
                throw new StoreOpenException("the configuration in " + directory.configurationDir()
                        + " is missing: put it back from a backup, or start with an empty dir");
            }
            return new StoreFiles(
                    directory, store, areas, random, ConfigurationCodec.decode(stored.bytes()), stored.version());
        } catch (RuntimeException | Error e) {
            closeAll(e, store, areas, directory);
            throw e;
        }
    }

    private static Configuration firstConfiguration(
            EmbeddedSettings settings, long clusterId, List<Area> areas, RandomSource random) {
        final List<Long> incarnations = new ArrayList<>();
        areas.forEach(area -> incarnations.add(0L));
        final Configuration first = Configuration.initial(
                clusterId, random.nextLong(), settings.servers(), settings.replicas(), settings.shards(), incarnations);
        for (Area area : areas) {
            for (int shard = 0; shard < settings.shards(); shard++) {
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
        final Versioned written = store.read(ConfigurationCodec.PATH);
        if (written == null || !written.stamp().equals(stamp)) {
            throw new StoreOpenException("the configuration that was just stored is not there any more");
        }
        return written.version();
    }

    Configuration configuration() {
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
    void startIncarnations() {
        for (Area area : areas) {
            if (area.superblock().term() > configuration.term()) {
                throw new StoreOpenException("server " + area.serverId() + " has adopted term "
                        + area.superblock().term() + ", but the stored configuration is of term "
                        + configuration.term() + ": the configuration is older than the data; put the newest one back");
            }
        }
        for (Area area : areas) {
            area.superblock().startIncarnation();
            Chaos.point("start.incarnation");
        }
    }

    /**
     * Begins a term in which every server has a new incarnation and every shard a new epoch, and stores it: only then may
     * anything be served.
     */
    Configuration startTerm() {
        final List<Long> incarnations = new ArrayList<>();
        areas.forEach(area -> incarnations.add(area.superblock().incarnation()));
        final Configuration next = configuration.coldStart(incarnations);
        configurationVersion = write(store, next, configurationVersion, random);
        configuration = next;
        for (Area area : areas) {
            area.superblock().adoptTerm(next.term());
            Chaos.point("start.term");
        }
        return next;
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

    private static void suppress(Throwable failure, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
    }
}
