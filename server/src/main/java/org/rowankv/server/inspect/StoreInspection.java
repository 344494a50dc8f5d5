package org.rowankv.server.inspect;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.checkpoint.CheckpointReader;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.StoreContents.CacheOfStore;
import org.rowankv.topology.Configuration;

/** An inspection of a closed store. Every query reads the areas again. For one thread. */
public final class StoreInspection {
    /** Receives entries, in the order of their places; at the end of each area those that lie there in blocks only. */
    @FunctionalInterface
    public interface EntryVisitor {
        void onEntry(int server, StoredEntry entry);
    }

    private final ClosedStore store;
    private final ConfigurationImage image;
    private final Configuration configuration;

    private StoreInspection(ClosedStore store, ConfigurationImage image) {
        this.store = store;
        this.image = image;
        this.configuration = image.configuration();
    }

    /**
     * @param store open as long as this is used
     * @throws org.rowankv.server.area.StoreOpenException if the configuration is missing or damaged
     */
    public static StoreInspection of(ClosedStore store) {
        return new StoreInspection(store, ConfigurationImage.read(store));
    }

    public Configuration configuration() {
        return configuration;
    }

    /** Reads everything, and verifies it: every checksum, both copies of the superblocks, the tables, the nodes. */
    public StoreContents contents() {
        final List<Damage> damages = new ArrayList<>(image.damages());
        final List<ServerContents> servers = new ArrayList<>();
        for (int server = 0; server < store.shape().servers(); server++) {
            servers.add(AreaSurvey.of(store.area(server), configuration, damages));
        }
        return new StoreContents(
                store.path().toString(),
                store.formatVersion(),
                Long.toHexString(store.clusterId()),
                store.durability().parameter(),
                store.isCopied(),
                store.shape(),
                configuration,
                caches(),
                servers,
                checkpoints(),
                damages);
    }

    private List<CheckpointReader> checkpoints() {
        final List<CheckpointReader> checkpoints = new ArrayList<>();
        for (int server = 0; server < store.shape().servers(); server++) {
            checkpoints.addAll(CheckpointReader.all(server, new CheckpointFiles(store.checkpointDir(server))));
        }
        return checkpoints;
    }

    private List<CacheOfStore> caches() {
        final CatalogueStore catalogue =
                new CatalogueStore(image.store(), "inspect", new SplittableRandomSource(0), unused -> {
                    throw new IllegalStateException("attempt to change a closed store");
                });
        return catalogue.list().stream()
                .map(cache -> new CacheOfStore(cache.id(), cache.name()))
                .toList();
    }

    /** Visits every valid entry of every area. */
    public void forEachEntry(EntryVisitor visitor) {
        for (int server = 0; server < store.shape().servers(); server++) {
            final int number = server;
            ServerInspection.walk(store.area(server), entry -> visitor.onEntry(number, entry));
        }
    }

    /** Compares the replicas of each shard. */
    public ReplicaReport compareReplicas() {
        return new ReplicaComparison(store, configuration).compare();
    }
}
