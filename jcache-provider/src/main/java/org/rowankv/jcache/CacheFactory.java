package org.rowankv.jcache;

import java.io.Closeable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.cache.CacheException;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Factory;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheWriter;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.configuration.CacheDescriptor;
import org.rowankv.jcache.configuration.OpenConfiguration;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.configuration.Template;
import org.rowankv.jcache.event.Registration;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.BackgroundThreads;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.operation.CacheBinding;
import org.rowankv.jcache.operation.ExceptionMapping;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.protocol.CacheLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens caches for one manager: makes what the configuration asks for, creates the cache in the store or attaches to the
 * one of that name. What fails leaves nothing behind, in the store or elsewhere. Thread-safe.
 */
final class CacheFactory {
    private static final Logger LOG = LoggerFactory.getLogger(CacheFactory.class);
    private static final int MAX_NAME_BYTES = 1024;

    private final RowanCacheManager manager;
    private final SharedStore shared;
    private final LoaderReference loader;
    private final BackgroundThreads threads;
    private final StoreSettings settings;
    private final AtomicBoolean warnedOfReferences = new AtomicBoolean();

    CacheFactory(
            RowanCacheManager manager,
            SharedStore shared,
            LoaderReference loader,
            BackgroundThreads threads,
            StoreSettings settings) {
        this.manager = manager;
        this.shared = shared;
        this.loader = loader;
        this.threads = threads;
        this.settings = settings;
    }

    private Catalogue catalogue() {
        return shared.store().client().catalogue();
    }

    <K, V> CacheProxy<K, V> open(String name, OpenConfiguration<K, V> configuration) {
        checkName(name);
        checkStoreByValue(configuration.isStoreByValue());
        final List<Closeable> made = new ArrayList<>();
        boolean opened = false;
        try {
            final ExpiryEvaluator lifetimes =
                    new ExpiryEvaluator(make(name, "expiry policy", configuration.getExpiryPolicyFactory()));
            made.add(lifetimes);
            final Factory<CacheLoader<K, V>> loaderFactory = configuration.loaderFactory();
            final LoaderCalls<K, V> loads =
                    loaderFactory == null ? null : new LoaderCalls<>(make(name, "loader", loaderFactory));
            if (loads != null) {
                made.add(loads);
            }
            final Factory<CacheWriter<? super K, ? super V>> writerFactory = configuration.writerFactory();
            final WriterCalls<K, V> writes = writerFactory == null || !configuration.isWriteThrough()
                    ? null
                    : new WriterCalls<K, V>(
                            CacheFactory.<CacheWriter<? super K, ? super V>>make(name, "writer", writerFactory));
            if (writes != null) {
                made.add(writes);
            }
            final List<Registration<K, V>> listeners = new ArrayList<>();
            for (CacheEntryListenerConfiguration<K, V> each : configuration.getCacheEntryListenerConfigurations()) {
                final Registration<K, V> listener = Registration.of(each);
                listeners.add(listener);
                made.add(listener);
            }
            final CacheBinding<K, V> opening = opening(name, configuration, lifetimes, loads, writes);
            opened = true;
            return new CacheProxy<>(
                    manager,
                    opening,
                    configuration,
                    loads,
                    listeners,
                    threads,
                    settings.count(Setting.LISTENER_BACKLOG));
        } finally {
            if (!opened) {
                made.forEach(part -> CloseSequence.close(part, name));
            }
        }
    }

    private static <T> T make(String name, String what, Factory<T> factory) {
        final T made = factory.create();
        if (made == null) {
            throw new CacheException("the factory of the " + what + " of the cache " + name + " returned null");
        }
        return made;
    }

    private <K, V> CacheBinding<K, V> opening(
            String name,
            OpenConfiguration<K, V> configuration,
            ExpiryEvaluator lifetimes,
            @Nullable LoaderCalls<K, V> loads,
            @Nullable WriterCalls<K, V> writes) {
        final ClassRules rules = new ClassRules(
                List.of(configuration.getKeyType(), configuration.getValueType()),
                settings.text(Setting.ALLOWED_CLASSES));
        final int cacheId = attach(
                name,
                new CacheDescriptor(
                        configuration.getKeyType().getName(),
                        configuration.getValueType().getName(),
                        lifetimes.policyClass().getName()));
        return new CacheBinding<>(new CacheBinding.Parts<>(
                name,
                cacheId,
                configuration.getKeyType(),
                configuration.getValueType(),
                shared.store().client(),
                new Codec(loader, rules),
                lifetimes,
                new Statistics(shared.store().clock(), () -> catalogue().evictions(cacheId)),
                shared.rendezvous(cacheId),
                configuration.isReadThrough() ? loads : null,
                writes));
    }

    /** The id of the cache in the store: a new one, or the one of that name if it agrees. */
    private int attach(String name, CacheDescriptor wanted) {
        try {
            final Catalogue.CacheRecord found = catalogue().create(name, wanted.toBytes());
            final CacheDescriptor present = CacheDescriptor.of(found.descriptor());
            if (!present.equals(wanted)) {
                throw new CacheException("the cache " + name + " is in the store with another configuration: there "
                        + present + "; here " + wanted + "; open it as it is, or destroy it first");
            }
            final Template template = settings.templates().find(name);
            final CacheLimit limit = template == null ? null : template.limit();
            if (limit != null && !limit.equals(found.limit())) {
                catalogue().limit(name, limit);
            } else if (!found.limit().isNone()) {
                LOG.info("the cache {} has {}", name, found.limit());
            }
            return found.id();
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    private static void checkName(String name) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new CacheException(
                    "the name of a cache is no text that UTF-8 can hold: it has half of a surrogate pair");
        }
        final int length = name.getBytes(StandardCharsets.UTF_8).length;
        if (length == 0 || length > MAX_NAME_BYTES) {
            throw new CacheException(
                    "the name of a cache has 1 to " + MAX_NAME_BYTES + " bytes in UTF-8, not " + length);
        }
    }

    private void checkStoreByValue(boolean storeByValue) {
        if (storeByValue) {
            return;
        }
        if (!"copy".equals(settings.text(Setting.STORE_BY_REFERENCE))) {
            throw new UnsupportedOperationException("this provider stores by value; set "
                    + Setting.STORE_BY_REFERENCE.property() + "=copy to have store-by-reference caches treated so");
        }
        if (warnedOfReferences.compareAndSet(false, true)) {
            LOG.warn("store-by-reference is asked for; the cache stores by value all the same");
        }
    }

    /** Ends the cache of that name in the store, with all its entries, for all managers. */
    void destroy(String name) {
        try {
            final Catalogue.CacheRecord record = catalogue().find(name);
            if (record != null) {
                catalogue().destroy(name);
                shared.forget(record.id());
            }
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }
}
