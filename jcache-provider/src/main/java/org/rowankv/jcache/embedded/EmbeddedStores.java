package org.rowankv.jcache.embedded;

import javax.cache.CacheException;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.store.Store;
import org.rowankv.jcache.store.StoreOpener;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;

/** Opener of stores with servers in this JVM. Thread-safe. */
public final class EmbeddedStores implements StoreOpener {
    @Override
    public Store open(StoreSettings settings) {
        try {
            return new EmbeddedStore(EmbeddedCluster.open(translate(settings)));
        } catch (StoreOpenException | ForceFailedException | IllegalArgumentException e) {
            throw new CacheException("the store " + settings.storeText() + " cannot be opened: " + e.getMessage(), e);
        }
    }

    private static EmbeddedSettings translate(StoreSettings settings) {
        return EmbeddedSettings.of(with -> {
            with.servers = settings.count(Setting.SERVERS);
            with.replicas = settings.count(Setting.REPLICAS);
            with.dir = settings.directory();
            with.capacityBytes = settings.bytes(Setting.CAPACITY);
            with.shards = settings.count(Setting.SHARDS);
            with.segmentBytes = Math.toIntExact(Math.min(Integer.MAX_VALUE, settings.bytes(Setting.SEGMENT)));
            with.maxMessage = Math.toIntExact(Math.min(Integer.MAX_VALUE, settings.bytes(Setting.MAX_MESSAGE)));
            with.workers = settings.count(Setting.WORKERS);
            with.verifyReads = settings.flag(Setting.VERIFY_READS);
            with.scrubMibPerSecond = settings.count(Setting.SCRUB_RATE);
            with.durabilityNamed(settings.text(Setting.DURABILITY));
            with.checkpointIntervalMs = settings.count(Setting.CHECKPOINT_INTERVAL) * 1_000L;
            with.acceptUnclean = settings.flag(Setting.ACCEPT_UNCLEAN);
            with.acceptCopied = settings.flag(Setting.ACCEPT_COPIED);
            with.deadlineMs = settings.count(Setting.DEADLINE) * 1_000L;
        });
    }
}
