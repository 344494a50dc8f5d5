package org.rowankv.spring;

import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Properties {@code rowan.caches.NAME.*}: the entries of one cache template. Immutable.
 *
 * @param expiry lifetime of entries: eternal, or created, modified, accessed or touched, a colon and a duration, such as
 *     modified:10m
 * @param maxEntries limit of entries, above which the store evicts; or none
 * @param maxBytes limit of the bytes of the entries, such as 64m, above which the store evicts; or none
 * @param whenFull what a full store does: refuse or evict
 * @param content whether the content is kept or fresh when a store in this JVM is opened
 * @param generation a text whose change clears the cache once
 * @param storeByReference refuse or copy
 * @param keyType class of the keys
 * @param valueType class of the values
 * @param keys format of the keys: structural or serialized
 * @param codec how values are written: record or java
 * @param near whether decoded values are kept in this JVM: off or validated
 * @param nearBytes limit of the heap for these, such as 64m
 * @param statistics whether statistics are counted from the creation on
 * @param management whether the configuration has an MXBean
 * @param create whether the first use creates the cache
 */
public record CacheTemplateProperties(
        @Nullable String expiry,
        @Nullable String maxEntries,
        @Nullable String maxBytes,
        @Nullable String whenFull,
        @Nullable String content,
        @Nullable String generation,
        @Nullable String storeByReference,
        @Nullable String keyType,
        @Nullable String valueType,
        @Nullable String keys,
        @Nullable String codec,
        @Nullable String near,
        @Nullable String nearBytes,
        @Nullable Boolean statistics,
        @Nullable Boolean management,
        @Nullable Boolean create) {

    /** The entries that are set, by their names in a template. */
    Map<String, String> entries() {
        final Map<String, String> entries = new TreeMap<>();
        for (RecordComponent component : CacheTemplateProperties.class.getRecordComponents()) {
            try {
                final Object value = component.getAccessor().invoke(this);
                if (value != null) {
                    entries.put(nameOf(component), value.toString());
                }
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("the property " + component.getName() + " cannot be read", e);
            }
        }
        return entries;
    }

    /** The name of the entry: max-bytes for maxBytes. */
    static String nameOf(RecordComponent component) {
        final StringBuilder name = new StringBuilder();
        component.getName().chars().forEach(each -> {
            if (Character.isUpperCase(each)) {
                name.append('-');
            }
            name.append((char) Character.toLowerCase(each));
        });
        return name.toString();
    }
}
