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

/** Everything a cache template can say: the one table that parsing, messages and documentation are made from. */
public enum TemplateEntry {
    EXPIRY(
            "`eternal`, or `created:`, `modified:`, `accessed:` or `touched:` with a whole number from 1 and `ms`, `s`, `m`,"
                    + " `h` or `d`",
            "The JSR's policy of that name, for a cache whose own is the eternal one."),
    STATISTICS("true or false", "`true` switches statistics on."),
    MANAGEMENT("true or false", "`true` shows the configuration's MXBean."),
    KEY_TYPE("a class name, or `byte[]`", "Type of the keys, for a cache whose own is Object."),
    VALUE_TYPE("a class name, or `byte[]`", "Type of the values, for a cache whose own is Object."),
    CREATE(
            "true or false",
            "`true`: `getCache` creates a cache of such a name that is not open, rather than to return null.");

    private static final Pattern DURATION = Pattern.compile("([0-9]+)(ms|s|m|h|d)");
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

    /** The name behind the last dot. */
    public String key() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public String writtenAs() {
        return writtenAs;
    }

    public String meaning() {
        return meaning;
    }

    /** @param written the whole name, for the message */
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

    /** Throws when the text is none of what can be written; a class is looked for later. */
    void check(String pattern, String text) {
        switch (this) {
            case EXPIRY -> expiry(pattern, text);
            case KEY_TYPE, VALUE_TYPE -> {
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

    private CacheException invalid(String pattern, String text) {
        return new CacheException(complaint(pattern, text));
    }

    private String complaint(String pattern, String text) {
        return "the cache template " + pattern + '.' + key() + " = \"" + text + "\" is not "
                + writtenAs.replace("`", "");
    }
}
