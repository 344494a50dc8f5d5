package org.rowankv.server.cluster;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.catalogue.CatalogueStore;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.server.peer.StaleTermException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server does with the catalogue of caches when its roles begin, behind the tasks that other servers wait for. */
final class CatalogueStart {
    private static final Logger LOG = LoggerFactory.getLogger(CatalogueStart.class);
    private static final long PREPARE_AGAIN_NS = 100_000_000;

    private final int serverId;
    private final ClusterContext context;
    private final SerialExecutor deferred;
    /** Null until the catalogue was read, or the attempt failed. */
    private volatile @Nullable List<StoredCache> caches;

    CatalogueStart(int serverId, ClusterContext context, SerialExecutor deferred) {
        this.serverId = serverId;
        this.context = context;
        this.deferred = deferred;
    }

    /**
     * Reads the catalogue while the servers exchange entries: its caches are served even if the store is unreachable
     * afterwards. If the store does not answer the list is empty, and the port looks up each cache.
     */
    void list() {
        deferred.execute(this::read);
    }

    private void read() {
        List<StoredCache> found = List.of();
        try {
            found = CatalogueStore.list(context.store());
        } catch (ConfigurationStoreException e) {
            context.errors().reportExpected("listing the caches", e);
        } catch (RuntimeException e) {
            context.errors().report("listing the caches", e);
        } finally {
            caches = found;
        }
    }

    /** Whether the list is known. */
    boolean isListed() {
        return caches != null;
    }

    List<StoredCache> caches() {
        return Objects.requireNonNull(caches);
    }

    /** Once every server answers: completing a half-finished destroy needs all of them. */
    void prepare(ClusterCatalogue catalogue) {
        deferred.execute(() -> prepareNow(catalogue));
    }

    /** Repeats until it succeeds: no other event gives this server the limits, or completes a half-finished destroy. */
    private void prepareNow(ClusterCatalogue catalogue) {
        try {
            if (serverId == 0) {
                catalogue.resume();
            }
            catalogue.applyLimits();
            return;
        } catch (StaleTermException e) {
            LOG.debug("cache limits deferred to the next start", e);
            return;
        } catch (ConfigurationStoreException e) {
            context.errors().reportExpected("the limits of the caches", e);
        } catch (RuntimeException e) {
            context.errors().report("the limits of the caches", e);
        }
        context.scheduling().park(PREPARE_AGAIN_NS);
        prepare(catalogue); // behind tasks that other servers wait for
    }
}
