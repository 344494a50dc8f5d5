package org.rowankv.jcache.classes;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Named sets of classes for the list of allowed classes, where a name begins with {@value #MARK}. */
enum ClassPreset {
    /** What Spring's cache abstraction stores itself: null results, keys of several arguments; and pages of Spring Data. */
    SPRING(
            "org.springframework.cache.support.NullValue",
            "org.springframework.cache.support.NullValue",
            "org.springframework.cache.interceptor.SimpleKey",
            "org.springframework.data.domain.*"),

    /** Keys and entries of Hibernate's second-level cache. */
    HIBERNATE("org.hibernate.Hibernate", "org.hibernate.**"),

    /** Exceptions of the JDK, and plain values that are rarer than those always allowed. No lambdas. */
    JDK(
            "java.lang.Object",
            "java.lang.String$CaseInsensitiveComparator",
            "java.util.Calendar",
            "java.util.GregorianCalendar",
            "java.util.Random",
            "java.util.regex.Pattern",
            "java.util.concurrent.ArrayBlockingQueue",
            "java.util.concurrent.LinkedBlockingDeque",
            "java.util.concurrent.LinkedBlockingQueue",
            "java.util.concurrent.PriorityBlockingQueue",
            "java.util.concurrent.atomic.*",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
            "java.text.*");

    static final String MARK = "@";

    private final String evidence;
    private final List<ClassPattern> patterns;

    /** @param evidence a class that is present where the preset is useful */
    ClassPreset(String evidence, String... patterns) {
        this.evidence = evidence;
        this.patterns = ClassPattern.of(patterns);
    }

    /** The name in a list of allowed classes. */
    String written() {
        return MARK + name().toLowerCase(Locale.ROOT);
    }

    /** The preset of that written name, or null. */
    static @Nullable ClassPreset ofWritten(String written) {
        return Arrays.stream(values())
                .filter(preset -> preset.written().equals(written))
                .findFirst()
                .orElse(null);
    }

    static String known() {
        return Arrays.stream(values()).map(ClassPreset::written).collect(Collectors.joining(", "));
    }

    /** Whether the preset is useful to applications of that loader beyond the JDK's own classes. */
    boolean isPresent(ClassLoader loader) {
        try {
            return this != JDK && loader.loadClass(evidence) != null;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    boolean contains(Class<?> type) {
        return ClassPattern.anyMatches(patterns, type.getName())
                || this == JDK && Throwable.class.isAssignableFrom(type) && ComponentTypes.isJdk(type);
    }
}
