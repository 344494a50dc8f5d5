package org.rowankv.jcache.cluster;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.cache.CacheException;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.store.Store;
import org.rowankv.jcache.store.StoreOpener;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opener of stores with remote servers. Thread-safe. */
public final class ClusterStores implements StoreOpener {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterStores.class);

    @Override
    public Store open(StoreSettings settings) {
        final long startNs = SystemClock.INSTANCE.nanoTime();
        try {
            final long timeoutNs = TimeUnit.SECONDS.toNanos(settings.count(Setting.OPERATION_TIMEOUT));
            // Half of the timeout per attempt, which leaves time for another one.
            final NetSettings net = NetSettings.DEFAULT.withTimes(
                    Math.min(NetSettings.DEFAULT.connectNs(), timeoutNs), Math.max(1, timeoutNs / 2));
            final Store store = connect(settings, net, timeoutNs);
            if (!store.isConnected()) {
                return store;
            }
            LOG.info(
                    "Store open addresses={} ms={}",
                    String.join(",", settings.addresses()),
                    (SystemClock.INSTANCE.nanoTime() - startNs) / 1_000_000);
            return store;
        } catch (RowanException | IllegalArgumentException e) {
            throw new CacheException("the " + settings.storeText() + " cannot be used: " + e.getMessage(), e);
        }
    }

    private static Store connect(StoreSettings settings, NetSettings net, long timeoutNs) {
        final Supplier<RowanClient> connector = () -> RowanClient.connect(settings.addresses(), net, timeoutNs);
        try {
            return new ClusterStore(connector.get());
        } catch (RowanException e) {
            if (!settings.isLazy() || e.status() != Status.UNREACHABLE) {
                throw e;
            }
            final LazyClusterStore lazy = new LazyClusterStore(connector, settings.storeText(), e);
            lazy.start();
            return lazy;
        }
    }
}
