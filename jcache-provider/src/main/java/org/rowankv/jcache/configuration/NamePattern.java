package org.rowankv.jcache.configuration;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import javax.cache.CacheException;

/**
 * Pattern of cache names: {@code *} matches any characters, dots included, or none; every other character matches
 * itself. Orders the most specific pattern first: by more literal characters, then by fewer stars, then by text.
 * Immutable.
 */
record NamePattern(String text) implements Comparable<NamePattern> {
    private static final char ANY = '*';
    private static final int MAX_BYTES = 1024;
    private static final Comparator<NamePattern> ORDER = Comparator.comparingInt(NamePattern::literals)
            .reversed()
            .thenComparingInt(NamePattern::stars)
            .thenComparing(NamePattern::text);

    NamePattern {
        final String why = whyInvalid(text);
        if (!why.isEmpty()) {
            throw new CacheException("the pattern \"" + text + "\" of a cache template " + why);
        }
    }

    private static String whyInvalid(String text) {
        if (text.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            return "is longer than a cache name can be, which is " + MAX_BYTES + " bytes in UTF-8";
        }
        return text.contains("**") ? "has two stars in a row; one stands for any characters already, dots too" : "";
    }

    private int literals() {
        return text.length() - stars();
    }

    private int stars() {
        return (int) text.chars().filter(c -> c == ANY).count();
    }

    /** Runs in time proportional to both lengths: only the last star is reconsidered. */
    boolean matches(String name) {
        int inName = 0;
        int inText = 0;
        int afterStar = -1;
        int taken = 0;
        while (inName < name.length()) {
            if (inText < text.length() && text.charAt(inText) == ANY) {
                afterStar = ++inText;
                taken = inName;
            } else if (inText < text.length() && text.charAt(inText) == name.charAt(inName)) {
                inText++;
                inName++;
            } else if (afterStar >= 0) {
                inText = afterStar;
                inName = ++taken;
            } else {
                return false;
            }
        }
        return inText == text.length() || (inText == text.length() - 1 && text.charAt(inText) == ANY);
    }

    @Override
    public int compareTo(NamePattern that) {
        return ORDER.compare(this, that);
    }
}
