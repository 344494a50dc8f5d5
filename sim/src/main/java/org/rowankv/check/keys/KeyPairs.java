package org.rowankv.check.keys;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;

/**
 * Comparison of the bytes of keys with their {@code equals}, for pairs of each shape in turn: a key and one that is made
 * differently from the same content, and a key and one of other content. Used by one thread.
 */
public final class KeyPairs {
    private static final int MOST_FINDINGS = 20;

    private final Random seeds;
    private final Codec codec;
    private final ByteSink sink = new ByteSink(1_024);
    private final List<String> findings = new ArrayList<>();
    private long pairs;
    private long misses;
    private long unequal;
    private long confused;

    public KeyPairs(long seed) {
        this.seeds = new Random(seed);
        this.codec = new Codec(
                new LoaderReference(KeyPairs.class.getClassLoader()), ClassRules.open(), KeyFormat.STRUCTURAL, true);
    }

    public static int shapes() {
        return KeyShape.values().length;
    }

    /** Compares more pairs of equal keys, and as many of keys of other content. */
    public void compare(long count) {
        final KeyShape[] shapes = KeyShape.values();
        for (long i = 0; i < count; i++) {
            final KeyShape shape = shapes[(int) (pairs % shapes.length)];
            pairs++;
            compare(shape, seeds.nextLong(), seeds.nextLong());
        }
    }

    private void compare(KeyShape shape, long content, long otherContent) {
        final Object key = shape.make(content, seeds.nextLong());
        final Object same = shape.make(content, seeds.nextLong());
        final Object other = shape.make(otherContent, seeds.nextLong());
        final byte[] bytes = encode(key);
        if (!shape.areEqual(key, same)) {
            throw new IllegalStateException("the shape " + shape + " makes unequal keys: " + key + ", " + same);
        }
        if (!Arrays.equals(bytes, encode(same))) {
            miss("other bytes", shape, key, same);
        }
        final boolean isEqual = Arrays.equals(bytes, encode(other));
        if (shape.areEqual(key, other)) {
            if (!isEqual) {
                miss("other bytes", shape, key, other);
            }
        } else {
            unequal++;
            if (isEqual) {
                confused++;
                note("confused", shape, key, other);
            }
        }
        final Object read = codec.decodeKey(bytes, 0, bytes.length, Object.class);
        if (!shape.areEqual(key, read) || !Arrays.equals(bytes, encode(read))) {
            miss("decoded", shape, key, read);
        }
    }

    private byte[] encode(Object key) {
        sink.reset();
        codec.encodeKey(key, sink);
        return sink.toBytes();
    }

    private void miss(String what, KeyShape shape, Object one, Object other) {
        misses++;
        note("miss, " + what, shape, one, other);
    }

    private void note(String what, KeyShape shape, Object one, Object other) {
        if (findings.size() < MOST_FINDINGS) {
            findings.add(what + ": " + shape + ": " + one.getClass().getName() + ' ' + one + ", "
                    + other.getClass().getName() + ' ' + other);
        }
    }

    /**
     * For each shape a checksum of the bytes of so many keys, the same in every JVM.
     *
     * @param contentSeed what the keys are
     * @param styleSeed how they are made, and in which order their classes are loaded
     */
    public static List<String> checksums(long contentSeed, long styleSeed, int keys) {
        final KeyPairs encoder = new KeyPairs(contentSeed);
        final KeyShape[] shapes = KeyShape.values();
        final String[] lines = new String[shapes.length];
        for (int i = 0; i < shapes.length; i++) {
            final KeyShape shape = shapes[(styleSeed & 1) == 0 ? i : shapes.length - 1 - i];
            final Random contents = new Random(contentSeed + shape.ordinal());
            final Random styles = new Random(styleSeed);
            final CRC32C sum = new CRC32C();
            for (int n = 0; n < keys; n++) {
                sum.update(encoder.encode(shape.make(contents.nextLong(), styles.nextLong())));
            }
            lines[shape.ordinal()] = shape + " " + Long.toHexString(sum.getValue());
        }
        return List.of(lines);
    }

    /** Notes a miss for each line of another JVM that differs from this JVM's. */
    public void compareLines(List<String> here, List<String> there) {
        for (int i = 0; i < Math.max(here.size(), there.size()); i++) {
            final String one = i < here.size() ? here.get(i) : "nothing";
            final String other = i < there.size() ? there.get(i) : "nothing";
            if (!one.equals(other)) {
                misses++;
                findings.add("miss, another JVM: " + one + ", there " + other);
            }
        }
    }

    /** Equal keys whose bytes differ, and keys that differ from their decoded copies. */
    public long misses() {
        return misses;
    }

    /** Pairs of unequal keys compared. */
    public long unequal() {
        return unequal;
    }

    /** Unequal keys whose bytes are equal. */
    public long confused() {
        return confused;
    }

    /** Pairs of equal keys compared. */
    public long pairs() {
        return pairs;
    }

    /** The first findings, a line each. */
    public List<String> findings() {
        return List.copyOf(findings);
    }
}
