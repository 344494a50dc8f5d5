package org.rowankv.jcache.cluster;

import javax.cache.CacheException;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.RowanException;
import org.rowankv.jcache.Store;
import org.rowankv.jcache.StoreOpener;
import org.rowankv.jcache.configuration.StoreSettings;

/** Connects to stores whose servers run elsewhere. Thread-safe. */
public final class ClusterStores implements StoreOpener {
    @Override
    public Store open(StoreSettings settings) {
        try {
            return new ClusterStore(RowanClient.connect(settings.addresses()));
        } catch (RowanException | IllegalArgumentException e) {
            throw new CacheException("the " + settings.storeText() + " cannot be used: " + e.getMessage(), e);
        }
    }
}
