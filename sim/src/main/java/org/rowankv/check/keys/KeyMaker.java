package org.rowankv.check.keys;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Source of the parts of a key. Two makers with one seed of content and different seeds of style make equal keys of
 * different classes, orders and instances. Contents come from small ranges, so that unequal keys differ by little. For
 * one key.
 */
final class KeyMaker {
    private static final String LETTERS = "aAbB é\u00ffЖ\ud83d\ude00\u0000";
    private static final Comparator<Object> BY_TEXT =
            Comparator.comparing(value -> value.getClass().getName() + value);

    private final Random content;
    private final Random style;
    private String latest = "";

    KeyMaker(long contentSeed, long styleSeed) {
        this.content = new Random(contentSeed);
        this.style = new Random(styleSeed);
    }

    int number(int bound) {
        return content.nextInt(bound);
    }

    boolean flag() {
        return content.nextBoolean();
    }

    /** One of the values. */
    @SafeVarargs
    final <T> T of(T... values) {
        return values[content.nextInt(values.length)];
    }

    /** One of the ways to make the same. */
    @SafeVarargs
    private <T> T way(Supplier<T>... ways) {
        return ways[style.nextInt(ways.length)].get();
    }

    /** A short text: a constant, a new string, or the very string that was last returned. */
    String text() {
        final StringBuilder text = new StringBuilder();
        final int length = content.nextInt(4);
        for (int i = 0; i < length; i++) {
            text.append(LETTERS.charAt(content.nextInt(LETTERS.length())));
        }
        final String made = content.nextInt(3) == 0 ? latest : text.toString();
        latest = way(() -> made, made::intern, () -> new StringBuilder(made).toString());
        return latest;
    }

    long wide() {
        return of(0L, 1L, -1L, 1L << 32, 127L, 128L, 65_536L, Long.MAX_VALUE, Long.MIN_VALUE);
    }

    double fraction() {
        return of(0.0, 1.5, -1.5, Double.NaN, Double.POSITIVE_INFINITY, Double.MIN_VALUE, 0.1 + 0.2, 0.3);
    }

    /** A scalar of any type. */
    Object scalar() {
        return switch (content.nextInt(8)) {
            case 0 -> number(3);
            case 1 -> (long) number(3);
            case 2 -> (short) number(3);
            case 3 -> (byte) number(3);
            case 4 -> (char) ('0' + number(3));
            case 5 -> String.valueOf(number(3));
            case 6 -> (double) number(3);
            default -> flag();
        };
    }

    private <T> List<T> some(Supplier<T> element) {
        final List<T> elements = new ArrayList<>();
        final int count = content.nextInt(5);
        for (int i = 0; i < count; i++) {
            elements.add(element.get());
        }
        return elements;
    }

    /** A list of up to four elements. */
    <T> List<T> list(Supplier<T> element) {
        final List<T> elements = some(element);
        return way(
                () -> elements,
                () -> List.copyOf(elements),
                () -> new LinkedList<>(elements),
                () -> Collections.unmodifiableList(elements),
                () -> asList(elements),
                () -> tail(elements));
    }

    @SuppressWarnings("unchecked") // an array of objects, which Arrays.asList does not check
    private static <T> List<T> asList(List<T> elements) {
        return (List<T>) Arrays.asList(elements.toArray());
    }

    private static <T> List<T> tail(List<T> elements) {
        final List<T> longer = new ArrayList<>(elements);
        longer.addAll(0, elements);
        return longer.subList(elements.size(), longer.size());
    }

    private <T> List<T> shuffled(Collection<T> elements) {
        final List<T> order = new ArrayList<>(elements);
        Collections.shuffle(order, style);
        return order;
    }

    /** Whether their texts and classes order them as their equals does. */
    private static boolean areScalars(Collection<?> elements) {
        return elements.stream()
                .allMatch(each -> each instanceof String
                        || each instanceof Number
                        || each instanceof Character
                        || each instanceof Boolean);
    }

    /** A set of up to four elements, filled in any order. */
    <T> Set<T> set(Supplier<T> element) {
        final Set<T> elements = new LinkedHashSet<>(some(element));
        return way(
                () -> new LinkedHashSet<>(shuffled(elements)),
                () -> new HashSet<>(shuffled(elements)),
                () -> Set.copyOf(elements),
                () -> Collections.unmodifiableSet(new LinkedHashSet<>(shuffled(elements))),
                () -> {
                    if (!areScalars(elements)) {
                        return elements;
                    }
                    final Set<T> sorted = new TreeSet<>(BY_TEXT);
                    sorted.addAll(elements);
                    return sorted;
                });
    }

    /** A map of up to four entries, filled in any order. */
    <K, V> Map<K, V> map(Supplier<K> key, Supplier<V> value) {
        final Map<K, V> entries = new LinkedHashMap<>();
        some(key).forEach(each -> entries.put(each, value.get()));
        final Map<K, V> reordered = new LinkedHashMap<>();
        shuffled(entries.keySet()).forEach(each -> reordered.put(each, entries.get(each)));
        return way(
                () -> reordered,
                () -> new HashMap<>(reordered),
                () -> Map.copyOf(entries),
                () -> Collections.unmodifiableMap(reordered),
                () -> {
                    if (!areScalars(entries.keySet())) {
                        return entries;
                    }
                    final Map<K, V> sorted = new TreeMap<>(BY_TEXT);
                    sorted.putAll(entries);
                    return sorted;
                });
    }

    /** Parts within parts, at most so many deep. */
    Object any(int depth) {
        final Supplier<Object> inner = () -> any(depth - 1);
        return switch (depth == 0 ? 0 : content.nextInt(6)) {
            case 1 -> list(inner);
            case 2 -> set(inner);
            case 3 -> map(this::text, inner);
            case 4 -> new KeyClasses.Tree(text(), list(inner));
            case 5 -> Map.entry(text(), inner.get());
            default -> scalar();
        };
    }
}
