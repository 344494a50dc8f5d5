package org.rowankv.jcache.configuration;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.cache.CacheException;
import javax.cache.configuration.Factory;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.expiry.EternalExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.cache.expiry.TouchedExpiryPolicy;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.protocol.CacheLimit;

/** Table of the entries of a cache template, the source of parsing, messages and documentation. */
public enum TemplateEntry {
    EXPIRY(
            "`eternal`, or `created:`, `modified:`, `accessed:` or `touched:` with a whole number from 1 and `ms`, `s`, `m`,"
                    + " `h` or `d`",
            "The JSR's policy of that name; replaces the eternal policy."),
    STATISTICS("true or false", "`true` enables statistics."),
    MANAGEMENT("true or false", "`true` registers the configuration's MXBean."),
    KEY_TYPE("a class name, or `byte[]`", "Key type; replaces Object."),
    VALUE_TYPE("a class name, or `byte[]`", "Value type; replaces Object."),
    MAX_ENTRIES(
            "a whole number from 1, or `none`",
            "Limit of entries; the store evicts entries of the cache above it. Caches without a limit, the default, are"
                    + " never evicted."),
    MAX_BYTES(
            "bytes, or with a unit `k`, `m` or `g`, or `none`",
            "Limit of the bytes that entries occupy in the log of one replica, including headers and padding to 64 bytes."
                    + " Limits are stored with the cache: a template without both leaves them unchanged, one with"
                    + " either sets both."),
    WHEN_FULL(
            "`refuse` or `evict`",
            "What a full store does: `refuse`, the default, fails writes; `evict` evicts from this cache. The caches that say so"
                    + " keep together to three quarters of the store, the largest gives way; the rest is for other caches."
                    + " `max-bytes` counts instead. Stored as limits are."),
    CONTENT(
            "`kept` or `fresh`",
            "`fresh` clears a cache when its store is opened, by `rowan:embedded` only: for content that a `dir` must not outlive,"
                    + " such as rows of a database that is made anew."),
    GENERATION(
            "text",
            "Clears the cache once when the text differs from that of its last opening, however many clients open it at once; a"
                    + " text is used once, such as the version of the values' classes."),
    STORE_BY_REFERENCE("`refuse` or `copy`", "As the setting of that name, for these caches."),
    KEYS(
            "`structural` or `serialized`",
            "How a new cache encodes keys that are no strings, numbers or other simple values: `structural`, the default, finds"
                    + " equal keys whatever their bytes; `serialized` compares bytes of Java serialization. An existing"
                    + " cache keeps its own."),
    CODEC(
            "`record` or `java`",
            "How values are written: `record`, the default, writes records, plain classes and collections by the names of their"
                    + " fields, which may be added and removed, and all else by Java serialization; `java` writes all that way."
                    + " Both read both."),
    NEAR(
            "`off` or `validated`",
            "`validated` keeps decoded values on the heap, with `rowan:embedded` only; at each use the store's index proves that a"
                    + " value is current. Only what nothing can change is kept: strings, numbers, `java.time`, enums, and records"
                    + " and `List.of`, `Set.of`, `Map.of` of such. Needs Caffeine on the class path; no effect where an access"
                    + " changes the lifetime. Default: `off`."),
    NEAR_BYTES(
            "bytes, or with a unit `k`, `m` or `g`",
            "Limit of the heap for these values of a cache, estimated. Default: a 64th of the heap."),
    CREATE("true or false", "`true`: `getCache` creates a missing cache of such a name instead of returning null.");

    static final String JAVA = "java";
    static final String EVICT = "evict";
    static final String FRESH = "fresh";
    static final String COPY = "copy";
    static final String VALIDATED = "validated";
    private static final String REFUSE = "refuse";
    private static final String RECORD = "record";
    private static final Pattern DURATION = Pattern.compile("([0-9]+)(ms|s|m|h|d)");
    private static final Pattern LIMIT = Pattern.compile("([0-9]+) *([kKmMgG]?)");
    private static final String NO_LIMIT = "none";
    private static final Map<String, TimeUnit> UNITS = Map.of(
            "ms", TimeUnit.MILLISECONDS,
            "s", TimeUnit.SECONDS,
            "m", TimeUnit.MINUTES,
            "h", TimeUnit.HOURS,
            "d", TimeUnit.DAYS);
    private static final Map<String, Function<Duration, Factory<ExpiryPolicy>>> POLICIES = Map.of(
            "created", CreatedExpiryPolicy::factoryOf,
            "modified", ModifiedExpiryPolicy::factoryOf,
            "accessed", AccessedExpiryPolicy::factoryOf,
            "touched", TouchedExpiryPolicy::factoryOf);

    private final String writtenAs;
    private final String meaning;

    TemplateEntry(String writtenAs, String meaning) {
        this.writtenAs = writtenAs;
        this.meaning = meaning;
    }

    /** The name after the last dot. */
    public String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String writtenAs() {
        return writtenAs;
    }

    public String meaning() {
        return meaning;
    }

    /** @param written the full name, for the message */
    static TemplateEntry ofKey(String key, String written) {
        for (TemplateEntry entry : values()) {
            if (entry.key().equals(key)) {
                return entry;
            }
        }
        throw new CacheException("the cache template \"" + written + "\" sets \"" + key + "\", which is none of "
                + Arrays.stream(values()).map(TemplateEntry::key).collect(Collectors.joining(", "))
                + "; write pattern.expiry=..., for example");
    }

    /** Throws if the text is invalid; classes are resolved later. */
    void check(String pattern, String text) {
        switch (this) {
            case EXPIRY -> expiry(pattern, text);
            case MAX_ENTRIES, MAX_BYTES -> limit(pattern, text);
            case CODEC -> requireOneOf(pattern, text, RECORD, JAVA);
            case WHEN_FULL -> requireOneOf(pattern, text, REFUSE, EVICT);
            case CONTENT -> requireOneOf(pattern, text, "kept", FRESH);
            case NEAR -> requireOneOf(pattern, text, "off", VALIDATED);
            case NEAR_BYTES -> {
                if (limit(pattern, text) == CacheLimit.NO_LIMIT) {
                    throw invalid(pattern, text);
                }
            }
            case STORE_BY_REFERENCE -> requireOneOf(pattern, text, REFUSE, COPY);
            case KEYS -> {
                if (keyFormat(text) == null) {
                    throw invalid(pattern, text);
                }
            }
            case KEY_TYPE, VALUE_TYPE, GENERATION -> {
                if (text.isEmpty()) {
                    throw invalid(pattern, text);
                }
            }
            default -> {
                if (!"true".equals(text) && !"false".equals(text)) {
                    throw invalid(pattern, text);
                }
            }
        }
    }

    private void requireOneOf(String pattern, String text, String one, String other) {
        if (!one.equals(text) && !other.equals(text)) {
            throw invalid(pattern, text);
        }
    }

    /** Null if there is no such format. */
    static @Nullable KeyFormat keyFormat(String text) {
        for (KeyFormat format : KeyFormat.values()) {
            if (format.text().equals(text)) {
                return format;
            }
        }
        return null;
    }

    static Factory<ExpiryPolicy> expiry(String pattern, String text) {
        if ("eternal".equals(text)) {
            return EternalExpiryPolicy.factoryOf();
        }
        final String[] parts = text.split(":", 2);
        final Function<Duration, Factory<ExpiryPolicy>> policy = POLICIES.get(parts[0]);
        final Matcher duration = DURATION.matcher(parts.length == 2 ? parts[1] : "");
        if (policy == null || !duration.matches()) {
            throw EXPIRY.invalid(pattern, text);
        }
        try {
            final long amount = Long.parseLong(duration.group(1));
            final TimeUnit unit = UNITS.get(duration.group(2));
            if (amount > 0 && unit != null) {
                return policy.apply(new Duration(unit, amount));
            }
        } catch (NumberFormatException e) {
            throw new CacheException(EXPIRY.complaint(pattern, text), e);
        }
        throw EXPIRY.invalid(pattern, text);
    }

    /** The limit in this entry, which is one of the two limits. */
    long limit(String pattern, String text) {
        if (NO_LIMIT.equals(text)) {
            return CacheLimit.NO_LIMIT;
        }
        final Matcher number = LIMIT.matcher(text);
        if (!number.matches() || this == MAX_ENTRIES && !number.group(2).isEmpty()) {
            throw invalid(pattern, text);
        }
        final int unit =
                " kmg".indexOf(number.group(2).isEmpty() ? " " : number.group(2).toLowerCase(Locale.ROOT));
        try {
            final long limit = Math.multiplyExact(Long.parseLong(number.group(1)), 1L << 10 * unit);
            if (limit > 0) {
                return limit;
            }
        } catch (NumberFormatException | ArithmeticException e) {
            throw new CacheException(complaint(pattern, text), e);
        }
        throw invalid(pattern, text);
    }

    private CacheException invalid(String pattern, String text) {
        return new CacheException(complaint(pattern, text));
    }

    private String complaint(String pattern, String text) {
        return "the cache template " + pattern + '.' + key() + " = \"" + text + "\" is not "
                + writtenAs.replace("`", "");
    }
}
