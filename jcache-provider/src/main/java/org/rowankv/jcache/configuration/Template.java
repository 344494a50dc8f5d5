package org.rowankv.jcache.configuration;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import javax.cache.CacheException;
import javax.cache.configuration.Configuration;
import javax.cache.configuration.Factory;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.protocol.CacheLimit;

/** Defaults of the caches of one name pattern. Immutable. */
public final class Template {
    private static final Factory<ExpiryPolicy> DEFAULT_EXPIRY = EternalExpiryPolicy.factoryOf();

    private static final int NEAR_PART_OF_HEAP = 64;

    private final NamePattern pattern;
    private final Map<TemplateEntry, String> texts;

    /** Throws if a text is invalid. */
    Template(NamePattern pattern, Map<TemplateEntry, String> texts) {
        this.pattern = pattern;
        this.texts = Collections.unmodifiableMap(new EnumMap<>(texts));
        this.texts.forEach((entry, text) -> entry.check(pattern.text(), text));
    }

    NamePattern pattern() {
        return pattern;
    }

    boolean isSet(TemplateEntry entry) {
        return texts.containsKey(entry);
    }

    /** Whether {@code getCache} creates a missing cache of such a name. */
    public boolean creates() {
        return isTrue(TemplateEntry.CREATE);
    }

    /** The limit of such caches; null if the template has none. */
    public @Nullable CacheLimit limit() {
        final String entries = texts.get(TemplateEntry.MAX_ENTRIES);
        final String bytes = texts.get(TemplateEntry.MAX_BYTES);
        final String whenFull = texts.get(TemplateEntry.WHEN_FULL);
        if (entries == null && bytes == null && whenFull == null) {
            return null;
        }
        final long ownBytes = limit(TemplateEntry.MAX_BYTES, bytes);
        return new CacheLimit(
                limit(TemplateEntry.MAX_ENTRIES, entries),
                ownBytes == CacheLimit.NO_LIMIT && TemplateEntry.EVICT.equals(whenFull) ? CacheLimit.SHARED : ownBytes);
    }

    /** Whether such caches are cleared when their store is opened. */
    public boolean isFresh() {
        return TemplateEntry.FRESH.equals(texts.get(TemplateEntry.CONTENT));
    }

    /** The text whose change clears such caches; null if there is none. */
    public @Nullable String generation() {
        return texts.get(TemplateEntry.GENERATION);
    }

    /** Whether store-by-reference caches store copies; null if the template does not say. */
    public @Nullable Boolean copiesReferences() {
        final String text = texts.get(TemplateEntry.STORE_BY_REFERENCE);
        return text == null ? null : TemplateEntry.COPY.equals(text);
    }

    /** The format of the keys of such caches; null if the template says none. */
    public @Nullable KeyFormat keys() {
        final String text = texts.get(TemplateEntry.KEYS);
        return text == null ? null : TemplateEntry.keyFormat(text);
    }

    /** Whether such caches write values by the names of their fields where possible. */
    public boolean hasValuesByName() {
        return !TemplateEntry.JAVA.equals(texts.get(TemplateEntry.CODEC));
    }

    /** Bytes of heap for decoded values of each such cache that are kept in this JVM; 0 if none are. */
    public long nearBytes() {
        if (!TemplateEntry.VALIDATED.equals(texts.get(TemplateEntry.NEAR))) {
            return 0;
        }
        final String bytes = texts.get(TemplateEntry.NEAR_BYTES);
        return bytes == null
                ? Runtime.getRuntime().maxMemory() / NEAR_PART_OF_HEAP
                : TemplateEntry.NEAR_BYTES.limit(pattern.text(), bytes);
    }

    private long limit(TemplateEntry entry, @Nullable String text) {
        return text == null ? CacheLimit.NO_LIMIT : entry.limit(pattern.text(), text);
    }

    private boolean isTrue(TemplateEntry entry) {
        return "true".equals(texts.get(entry));
    }

    /** Throws if a type cannot be loaded. */
    void checkTypes(ClassLoader loader) {
        type(TemplateEntry.KEY_TYPE, Object.class, loader);
        type(TemplateEntry.VALUE_TYPE, Object.class, loader);
    }

    /**
     * A copy of the configuration in which the template replaces the JSR's defaults.
     *
     * @param loader of the cache manager, for the types
     */
    public <K, V> MutableConfiguration<K, V> fill(Configuration<K, V> given, ClassLoader loader) {
        final MutableConfiguration<K, V> filled = OpenConfiguration.copyOf(given);
        filled.setTypes(
                type(TemplateEntry.KEY_TYPE, given.getKeyType(), loader),
                type(TemplateEntry.VALUE_TYPE, given.getValueType(), loader));
        final String expiry = texts.get(TemplateEntry.EXPIRY);
        if (expiry != null && DEFAULT_EXPIRY.equals(filled.getExpiryPolicyFactory())) {
            filled.setExpiryPolicyFactory(TemplateEntry.expiry(pattern.text(), expiry));
        }
        filled.setStatisticsEnabled(filled.isStatisticsEnabled() || isTrue(TemplateEntry.STATISTICS));
        filled.setManagementEnabled(filled.isManagementEnabled() || isTrue(TemplateEntry.MANAGEMENT));
        return filled;
    }

    @SuppressWarnings("unchecked") // Object means that the application sets no type
    private <T> Class<T> type(TemplateEntry entry, Class<T> given, ClassLoader loader) {
        final String name = texts.get(entry);
        if (name == null || !given.equals(Object.class)) {
            return given;
        }
        try {
            return (Class<T>) ("byte[]".equals(name) ? byte[].class : Class.forName(name, false, loader));
        } catch (ClassNotFoundException | LinkageError e) {
            throw new CacheException(
                    "the cache template " + pattern.text() + '.' + entry.key() + " names the class " + name
                            + ", which the class loader of the cache manager cannot load",
                    e);
        }
    }
}
