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
import org.rowankv.jcache.classes.AllowedClasses;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.codec.custom.ValueCodec;
import org.rowankv.jcache.codec.custom.ValueCodecs;
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
import org.rowankv.jcache.near.NearCache;
import org.rowankv.jcache.operation.CacheBinding;
import org.rowankv.jcache.operation.ExceptionMapping;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.protocol.CacheLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opener of caches for one manager: creates the configured parts, and creates the cache in the store or attaches to the
 * existing one. A failure leaves nothing behind, in the store or elsewhere. Thread-safe.
 */
final class CacheFactory {
    private static final Logger LOG = LoggerFactory.getLogger(CacheFactory.class);
    private static final int MAX_NAME_BYTES = 1024;

    private final RowanCacheManager manager;
    private final SharedStore shared;
    private final LoaderReference loader;
    private final BackgroundThreads threads;
    private final StoreSettings settings;
    private final AllowedClasses allowed;
    private final AtomicBoolean warnedOfReferences = new AtomicBoolean();
    private final AtomicBoolean warnedOfClasses = new AtomicBoolean();

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
        this.allowed = settings.allowedClasses();
    }

    private Catalogue catalogue() {
        return shared.store().client().catalogue();
    }

    /** Whether caches can be opened now. */
    boolean isConnected() {
        return shared.store().isConnected();
    }

    /** Checks what can be checked without the store. */
    <K, V> LazyCache<K, V> openLater(String name, OpenConfiguration<K, V> configuration) {
        check(name, configuration);
        return new LazyCache<>(manager, name, configuration, shared.store(), () -> {
            final CacheProxy<K, V> cache = open(name, configuration);
            cache.startOrClose();
            return cache;
        });
    }

    private void check(String name, OpenConfiguration<?, ?> configuration) {
        checkName(name);
        checkStoreByValue(name, configuration.isStoreByValue());
    }

    <K, V> CacheProxy<K, V> open(String name, OpenConfiguration<K, V> configuration) {
        check(name, configuration);
        final List<Closeable> parts = new ArrayList<>();
        boolean opened = false;
        try {
            final ExpiryEvaluator expiry =
                    new ExpiryEvaluator(create(name, "expiry policy", configuration.getExpiryPolicyFactory()));
            parts.add(expiry);
            final Factory<CacheLoader<K, V>> loaderFactory = configuration.loaderFactory();
            final LoaderCalls<K, V> loads =
                    loaderFactory == null ? null : new LoaderCalls<>(create(name, "loader", loaderFactory));
            if (loads != null) {
                parts.add(loads);
            }
            final Factory<CacheWriter<? super K, ? super V>> writerFactory = configuration.writerFactory();
            final WriterCalls<K, V> writes = writerFactory == null || !configuration.isWriteThrough()
                    ? null
                    : new WriterCalls<K, V>(
                            CacheFactory.<CacheWriter<? super K, ? super V>>create(name, "writer", writerFactory));
            if (writes != null) {
                parts.add(writes);
            }
            final List<Registration<K, V>> listeners = new ArrayList<>();
            for (CacheEntryListenerConfiguration<K, V> each : configuration.getCacheEntryListenerConfigurations()) {
                final Registration<K, V> listener = Registration.of(each);
                listeners.add(listener);
                parts.add(listener);
            }
            final CacheBinding<K, V> binding = bind(name, configuration, expiry, loads, writes);
            opened = true;
            return new CacheProxy<>(
                    manager,
                    binding,
                    configuration,
                    loads,
                    listeners,
                    threads,
                    settings.count(Setting.LISTENER_BACKLOG));
        } finally {
            if (!opened) {
                parts.forEach(part -> CloseSequence.close(part, name));
            }
        }
    }

    private static <T> T create(String name, String what, Factory<T> factory) {
        final T created = factory.create();
        if (created == null) {
            throw new CacheException("the factory of the " + what + " of the cache " + name + " returned null");
        }
        return created;
    }

    private <K, V> CacheBinding<K, V> bind(
            String name,
            OpenConfiguration<K, V> configuration,
            ExpiryEvaluator expiry,
            @Nullable LoaderCalls<K, V> loads,
            @Nullable WriterCalls<K, V> writes) {
        final List<Class<?>> types = List.of(configuration.getKeyType(), configuration.getValueType());
        final Template template = settings.templates().find(name);
        final Attached attached = attach(
                name,
                new CacheDescriptor(
                        configuration.getKeyType().getName(),
                        configuration.getValueType().getName(),
                        expiry.policyClass().getName(),
                        KeyFormat.STRUCTURAL,
                        "",
                        ""),
                template);
        final int cacheId = attached.cacheId();
        return new CacheBinding<>(new CacheBinding.Parts<>(
                name,
                cacheId,
                configuration.getKeyType(),
                configuration.getValueType(),
                shared.store().client(),
                new Codec(
                        loader,
                        rules(name, types),
                        attached.keys(),
                        template == null || !ValueCodecs.JAVA.equals(template.codec()),
                        attached.codec()),
                expiry,
                new Statistics(shared.store().clock(), () -> catalogue().evictions(cacheId)),
                shared.sharedState(cacheId),
                configuration.isReadThrough() ? loads : null,
                writes,
                near(name, expiry, template),
                settings.maxValue()));
    }

    private <V> @Nullable NearCache<V> near(String name, ExpiryEvaluator expiry, @Nullable Template template) {
        final long bytes = template == null ? 0 : template.nearBytes();
        if (bytes == 0) {
            return null;
        }
        if (expiry.dependsOnAccess()) {
            LOG.warn(
                    "ROWAN-1114 near=validated has no effect, because each access may change the lifetime policy={} cache={}",
                    expiry.policyClass(),
                    name);
            return null;
        }
        try {
            return new NearCache<>(shared.store().client(), bytes);
        } catch (NoClassDefFoundError e) {
            throw new CacheException(
                    "the template of the cache " + name
                            + " has near=validated, which needs the library com.github.ben-manes.caffeine:caffeine 3 on the"
                            + " class path; add it, or set near=off",
                    e);
        }
    }

    /** Closed where other JVMs may have written the bytes, or where the user lists classes. */
    private ClassRules rules(String name, List<Class<?>> types) {
        if (settings.addresses().isEmpty() && allowed.isEmpty()) {
            return ClassRules.open();
        }
        if (allowed.isEmpty() && types.contains(Object.class) && warnedOfClasses.compareAndSet(false, true)) {
            LOG.warn(
                    "ROWAN-1112 Classes of the application may not be stored, because neither types nor classes are named; use"
                            + " setTypes or set {} cache={}; further caches are not reported",
                    AllowedClasses.exampleLine(loader.get()),
                    name);
        }
        return ClassRules.closed(types, allowed);
    }

    private record Attached(
            int cacheId, KeyFormat keys, @Nullable ValueCodec codec) {}

    /** The cache in the store: new, or existing with a descriptor that fits. */
    private Attached attach(String name, CacheDescriptor given, @Nullable Template template) {
        final CacheLimit limit = template == null ? null : template.limit();
        final boolean isAlone = settings.addresses().isEmpty();
        final boolean isFresh = template != null && template.isFresh();
        if (template != null && template.nearBytes() > 0 && !isAlone) {
            throw new CacheException("the template of the cache " + name
                    + " has near=validated: only a store in this JVM (rowan:embedded) proves at each use that a value is"
                    + " current; set near=off");
        }
        if (isFresh && !isAlone) {
            throw new CacheException(
                    "the template of the cache " + name
                            + " has content=fresh: each client of a cluster would clear what the others have stored; use generation");
        }
        final KeyFormat keys = template == null ? null : template.keys();
        final String codec = template == null ? null : template.codec();
        final String ownCodec = codec == null || ValueCodecs.isOwn(codec) ? "" : codec;
        final CacheDescriptor wanted = (keys == null ? given : given.withKeys(keys)).withCodec(ownCodec);
        // Before the cache is created.
        final ValueCodec ofTemplate =
                ownCodec.isEmpty() ? null : valueCodec(ownCodec, "the template of the cache " + name + " has codec=");
        try {
            final Catalogue.CacheRecord found = catalogue().create(name, wanted.toBytes());
            final CacheDescriptor present = CacheDescriptor.of(found.descriptor());
            if (codec != null && !present.codec().equals(ownCodec)) {
                throw new CacheException(
                        "the cache " + name + " has codec="
                                + (present.codec().isEmpty() ? "record or java" : present.codec())
                                + " in the store, and its template here codec=" + codec
                                + "; remove the entry from the template to open the cache as it is, or destroy the cache first");
            }
            final CacheDescriptor fitting = wanted.withCodec(present.codec()).withColumns(present.columns());
            if (!present.equals(keys == null ? fitting.withKeys(present.keys()) : fitting)) {
                throw new CacheException("the cache " + name + " is in the store with another configuration: there "
                        + present + "; here " + wanted + "; open it as it is, or destroy it first"
                        + (present.keys() == KeyFormat.SERIALIZED && wanted.keys() == KeyFormat.STRUCTURAL
                                ? "; rowan recode rewrites serialized keys as structural ones"
                                : ""));
            }
            final ValueCodec valueCodec = ofTemplate != null || present.codec().isEmpty()
                    ? ofTemplate
                    : valueCodec(present.codec(), "the cache " + name + " has in the store codec=");
            shared.prepare(name, found.id(), isAlone, isFresh, template == null ? null : template.generation());
            if (limit != null && !limit.equals(found.limit())) {
                catalogue().limit(name, limit);
            } else if (limit == null && !found.limit().isNone()) {
                LOG.info("Cache limit in force cache={} limit={}", name, found.limit()); // of another client
            }
            return new Attached(found.id(), present.keys(), valueCodec);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    /** @param where what names the codec, for the message */
    private ValueCodec valueCodec(String name, String where) {
        final ValueCodec found = ValueCodecs.find(name, loader.get());
        if (found == null) {
            throw new CacheException(where + name + ", and the class loader of the cache manager has only the codecs "
                    + String.join(", ", ValueCodecs.names(loader.get()))
                    + "; add the jar that has it, such as rowan-codec-jackson or rowan-codec-kryo");
        }
        return found;
    }

    private static void checkName(String name) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new CacheException(
                    "the name of the cache cannot be encoded in UTF-8: it contains half of a surrogate pair");
        }
        final int length = name.getBytes(StandardCharsets.UTF_8).length;
        if (length == 0 || length > MAX_NAME_BYTES) {
            throw new CacheException(
                    "the name of a cache has 1 to " + MAX_NAME_BYTES + " bytes in UTF-8, not " + length);
        }
    }

    private void checkStoreByValue(String name, boolean storeByValue) {
        if (storeByValue) {
            return;
        }
        final Template template = settings.templates().find(name);
        final Boolean ofTemplate = template == null ? null : template.copiesReferences();
        final boolean copies =
                ofTemplate == null ? "copy".equals(settings.text(Setting.STORE_BY_REFERENCE)) : ofTemplate;
        if (!copies) {
            throw new UnsupportedOperationException(
                    "this provider stores by value; set " + Setting.STORE_BY_REFERENCE.property()
                            + "=copy, or that entry in a template, to have store-by-reference caches treated so");
        }
        if (warnedOfReferences.compareAndSet(false, true)) {
            LOG.warn("ROWAN-1111 Store-by-reference requested; the cache stores by value");
        }
    }

    /** Destroys the cache in the store with all its entries, for all managers. */
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
