package org.rowankv.samples.spring;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes random requests about notes and books that no other reader asks for, and knows what each response has to be. Two
 * requests for one key use equal keys, seldom the same object. Confined to one thread, but for its counts afterwards.
 */
final class Reader {
    private static final int KEYS = 60;
    private static final int BOOKS = 20;
    private static final int CHANGES_PERCENT = 15;
    private static final int ERRORS_LOGGED = 10;

    private interface Read extends BiFunction<Reader, String, @Nullable Integer> {}

    /** One kind of request: how its value is read, and how it is changed to the given one. */
    private record Kind(String name, int keys, Read read, Change change) {}

    private interface Change {
        void apply(Reader reader, String key, int value);
    }

    private static final List<Kind> KINDS = List.of(
            kind("note", (reader, key) -> reader.notes.note(key), (reader, key) -> reader.notes.changeNote(key)),
            kind(
                    "pair",
                    (reader, key) -> reader.notes.pair(reader.copy(key), reader.copy(key)),
                    (reader, key) -> reader.notes.changePair(reader.copy(key), reader.copy(key))),
            kind(
                    "signature",
                    (reader, key) -> reader.notes.signature(reader.signature(key)),
                    (reader, key) -> reader.notes.changeSignature(reader.signature(key))),
            kind(
                    "list",
                    (reader, key) -> reader.notes.list(reader.list(key)),
                    (reader, key) -> reader.notes.changeList(reader.list(key))),
            kind(
                    "set",
                    (reader, key) -> reader.notes.set(reader.set(key)),
                    (reader, key) -> reader.notes.changeSet(reader.set(key))),
            kind("shared", (reader, key) -> reader.notes.shared(key), (reader, key) -> reader.notes.changeShared(key)),
            kind(
                    "failure",
                    (reader, key) -> numberOf(reader.notes.failure(key).getMessage()),
                    (reader, key) -> reader.notes.changeFailure(key)),
            new Kind(
                    "page",
                    10 * KEYS,
                    (reader, key) -> versionOf(reader.notes.page(key)),
                    (reader, key, value) -> reader.notes.changePage(key)),
            new Kind(
                    "price",
                    BOOKS,
                    (reader, key) ->
                            reader.random.nextBoolean() ? reader.books.price(key) : reader.books.queriedPrice(key),
                    (reader, key, value) -> {
                        if (reader.random.nextInt(8) == 0) {
                            reader.books.repriceByStatement(key, value);
                        } else {
                            reader.books.reprice(key, value);
                        }
                    }),
            new Kind(
                    "shelf",
                    BOOKS,
                    (reader, key) -> numberOf(reader.books.shelf(new CopyId(reader.copy(key), 1))),
                    (reader, key, value) -> reader.books.move(new CopyId(key, 1), String.valueOf(value))));

    private final String name;
    private final NoteService notes;
    private final BookService books;
    private final Random random;
    private final Map<String, Integer> values = new HashMap<>();
    private int requests;
    private int differences;
    private int stale;
    private int errors;

    Reader(int number, NoteService notes, BookService books) {
        this.name = "reader" + number + '-';
        this.notes = notes;
        this.books = books;
        this.random = new Random(number);
    }

    private static Kind kind(String name, Read read, BiConsumer<Reader, String> change) {
        return new Kind(name, KEYS, read, (reader, key, value) -> change.accept(reader, key));
    }

    private static @Nullable Integer versionOf(@Nullable Page page) {
        return page == null ? null : Integer.valueOf(page.version());
    }

    private static @Nullable Integer numberOf(@Nullable String text) {
        return text == null || text.equals("null") ? null : Integer.valueOf(text);
    }

    /** An equal text: the same object, or another one. */
    @SuppressWarnings("StringCopy") // another object is what it is for
    private String copy(String text) {
        return random.nextBoolean() ? text : new String(text.toCharArray());
    }

    private Signature signature(String key) {
        return random.nextBoolean() ? new Signature(key, key) : new Signature(key, copy(key));
    }

    private List<String> parts(String key) {
        return Arrays.asList(copy(key), "and", copy(key));
    }

    private List<String> list(String key) {
        final List<String> parts = parts(key);
        return switch (random.nextInt(5)) {
            case 0 -> parts;
            case 1 -> List.copyOf(parts);
            case 2 -> new ArrayList<>(parts);
            case 3 -> new LinkedList<>(parts);
            default -> Collections.unmodifiableList(parts);
        };
    }

    private Set<String> set(String key) {
        final List<String> parts = new ArrayList<>(List.of(copy(key), "a", "b", "c"));
        Collections.shuffle(parts, random);
        return switch (random.nextInt(4)) {
            case 0 -> new HashSet<>(parts);
            case 1 -> new LinkedHashSet<>(parts);
            case 2 -> new TreeSet<>(parts);
            default -> Set.copyOf(parts);
        };
    }

    /** Makes requests, after the reader's books are there. */
    void make(int count) {
        for (int i = 0; i < BOOKS; i++) {
            books.add(name + "author", name + i, 0);
            values.put("price " + name + i, 0);
            values.put("shelf " + name + i, 0);
        }
        for (int i = 0; i < count; i++) {
            requests++;
            try {
                makeOne();
            } catch (RuntimeException e) {
                if (errors++ < ERRORS_LOGGED) {
                    e.printStackTrace();
                }
            }
        }
    }

    private void makeOne() {
        final Kind kind = KINDS.get(random.nextInt(KINDS.size()));
        final String key = name + random.nextInt(kind.keys());
        final String known = kind.name() + ' ' + key;
        final Integer expected = values.get(known);
        if (random.nextInt(100) < CHANGES_PERCENT) {
            final int next = expected == null ? 1 : expected + 1;
            kind.change().apply(this, key, next);
            values.put(known, next);
            return;
        }
        if (kind.name().equals("price") && books.booksOf(name + "author") != BOOKS) {
            differences++;
        }
        final Integer found = kind.read().apply(this, key);
        if (Objects.equals(found, expected)) {
            return;
        }
        if (expected != null && (found == null || found < expected)) {
            stale++;
        } else {
            differences++;
        }
        System.err.println("response differs: " + known + " is " + found + ", not " + expected);
    }

    int requests() {
        return requests;
    }

    int differences() {
        return differences;
    }

    int stale() {
        return stale;
    }

    int errors() {
        return errors;
    }
}
