package org.rowankv.jcache.classes;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.cache.CacheException;

/** A list of classes as the user writes it: names, packages and presets. Immutable. */
public final class AllowedClasses {
    /** The empty list. */
    public static final AllowedClasses NONE = new AllowedClasses(List.of(), List.of());

    private static final String SETTING = "rowan.allowed-classes";

    private static final String SEPARATOR = ";";

    private final List<ClassPattern> patterns;
    private final List<ClassPreset> presets;

    private AllowedClasses(List<ClassPattern> patterns, List<ClassPreset> presets) {
        this.patterns = patterns;
        this.presets = presets;
    }

    /**
     * Parses a list.
     *
     * @param text class names, {@code package.*}, {@code package.**} with subpackages, {@code **} for every class that
     *     is not known from attacks, and presets such as {@code @spring}; separated by ';' or ','
     * @throws CacheException for an unknown preset
     */
    public static AllowedClasses of(String text) {
        final List<ClassPattern> patterns = new ArrayList<>();
        final List<ClassPreset> presets = new ArrayList<>();
        for (String part : text.split("[;,]", -1)) {
            final String each = part.trim();
            if (each.startsWith(ClassPreset.MARK)) {
                final ClassPreset preset = ClassPreset.ofWritten(each);
                if (preset == null) {
                    throw new CacheException("the setting " + SETTING + " names \"" + each + "\", which is none of "
                            + ClassPreset.known());
                }
                presets.add(preset);
            } else if (!each.isEmpty()) {
                patterns.add(new ClassPattern(each));
            }
        }
        return new AllowedClasses(List.copyOf(patterns), List.copyOf(presets));
    }

    public boolean isEmpty() {
        return patterns.isEmpty() && presets.isEmpty();
    }

    /** Whether every class is listed that is not known from attacks. */
    public boolean hasEveryClass() {
        return patterns.contains(new ClassPattern(ClassPattern.EVERY_CLASS));
    }

    /** Whether the name itself is listed. */
    public boolean hasExactly(String name) {
        return patterns.contains(new ClassPattern(name));
    }

    /** Whether a name, a package or a preset in the list includes the class. */
    public boolean contains(Class<?> type) {
        return ClassPattern.anyMatches(patterns, type.getName())
                || presets.stream().anyMatch(preset -> preset.contains(type));
    }

    /**
     * The setting that allows this class besides what is allowed now.
     *
     * @param open whether an empty list allows every class now
     */
    public String lineWith(Class<?> type, boolean open) {
        final String more = Stream.of(ClassPreset.values())
                .filter(preset -> preset.contains(type) && !DeniedClasses.contains(type.getName()))
                .map(ClassPreset::written)
                .findFirst()
                .orElse(type.getName());
        final Stream<String> now = open && isEmpty() ? Stream.of(ClassPattern.EVERY_CLASS) : written();
        return SETTING + '=' + Stream.concat(now, Stream.of(more)).collect(Collectors.joining(SEPARATOR));
    }

    private Stream<String> written() {
        return Stream.concat(
                presets.stream().map(ClassPreset::written), patterns.stream().map(ClassPattern::text));
    }

    /**
     * A setting to begin with, for an application that lists nothing.
     *
     * @param loader of the application
     */
    public static String exampleLine(ClassLoader loader) {
        final Stream<String> found = Stream.of(ClassPreset.values())
                .filter(preset -> preset.isPresent(loader))
                .map(ClassPreset::written);
        return SETTING
                + '='
                + Stream.concat(found, Stream.of("your.package.**")).collect(Collectors.joining(SEPARATOR));
    }
}
