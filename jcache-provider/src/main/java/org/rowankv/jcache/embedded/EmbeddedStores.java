package org.rowankv.jcache.embedded;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
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

    /** A directory is opened as what it was made as. */
    @Override
    public StoreSettings complete(StoreSettings given) {
        final Map<Setting, String> made = madeWith(given);
        made.forEach((setting, text) -> {
            if (given.isSet(setting) && !given.text(setting).equals(text)) {
                throw new CacheException("the store in " + given.directory() + " was created with "
                        + setting.parameter() + "=" + text + ", not " + given.text(setting)
                        + ": leave it out, or make a new store in another dir and copy the objects over");
            }
        });
        return made.isEmpty() ? given : given.orElse(made);
    }

    private static Map<Setting, String> madeWith(StoreSettings settings) {
        final Path directory = settings.directory();
        final Map<Setting, String> made = new TreeMap<>();
        if (directory != null) {
            final Map<String, Long> numbers = EmbeddedSettings.madeWith(directory);
            Arrays.stream(Setting.values())
                    .filter(setting -> numbers.containsKey(setting.parameter()))
                    .forEach(setting -> made.put(setting, String.valueOf(numbers.get(setting.parameter()))));
        }
        return made;
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
