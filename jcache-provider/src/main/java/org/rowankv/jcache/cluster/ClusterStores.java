package org.rowankv.jcache.cluster;

import java.util.concurrent.TimeUnit;
import javax.cache.CacheException;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.store.Store;
import org.rowankv.jcache.store.StoreOpener;

/** Opener of stores with remote servers. Thread-safe. */
public final class ClusterStores implements StoreOpener {
    @Override
    public Store open(StoreSettings settings) {
        try {
            final long timeoutNs = TimeUnit.SECONDS.toNanos(settings.count(Setting.OPERATION_TIMEOUT));
            // Half of the timeout per attempt, which leaves time for another one.
            final NetSettings net = NetSettings.DEFAULT.withTimes(
                    Math.min(NetSettings.DEFAULT.connectNs(), timeoutNs), Math.max(1, timeoutNs / 2));
            return new ClusterStore(RowanClient.connect(settings.addresses(), net, timeoutNs));
        } catch (RowanException | IllegalArgumentException e) {
            throw new CacheException("the " + settings.storeText() + " cannot be used: " + e.getMessage(), e);
        }
    }
}
