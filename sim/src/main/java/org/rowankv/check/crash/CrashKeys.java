package org.rowankv.check.crash;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The caches and keys that the crash check's child process writes. Most keys have one writing thread, whose order is
 * theirs; those of {@link #SHARED} have several.
 */
final class CrashKeys {
    static final int THREADS = 4;

    /** Objects of all small and medium sizes. */
    static final int PLAIN = 0;
    /** Values are copies of pieces of the store's own files: log entries inside log entries. */
    static final int MIRROR = 1;
    /** Every thread writes every key. */
    static final int SHARED = 2;
    /** First of the caches, one per thread, that are repeatedly cleared. */
    static final int SCRATCH = 3;

    static final int CACHES = SCRATCH + THREADS;

    private static final int[] KEYS_PER_THREAD = {300, 6, 0, 40};
    private static final int SHARED_KEYS = 20;

    private CrashKeys() {}

    static String cacheName(int cache) {
        return switch (cache) {
            case PLAIN -> "plain";
            case MIRROR -> "mirror";
            case SHARED -> "shared";
            default -> "scratch-" + (cache - SCRATCH);
        };
    }

    /** Number of keys of a cache that one thread may write. */
    static int count(int cache) {
        return cache == SHARED ? SHARED_KEYS : KEYS_PER_THREAD[Math.min(cache, SCRATCH)];
    }

    /** The number of a key, unique in its cache. */
    static int number(int cache, int thread, int index) {
        return cache == SHARED ? index : thread * 100_000 + index;
    }

    static byte[] bytes(int number) {
        return ("k" + number).getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The number of a key, or −1 when the bytes are not a key of the child. */
    static int numberOf(byte[] key) {
        return numberOf(new String(key, StandardCharsets.ISO_8859_1));
    }

    static int numberOf(String text) {
        return text.matches("k[0-9]{1,8}") ? Integer.parseInt(text.substring(1)) : -1;
    }

    /** The numbers of all keys that a cache can hold. */
    static List<Integer> all(int cache) {
        final List<Integer> numbers = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            final boolean writes = cache < SHARED || (cache == SHARED ? thread == 0 : cache - SCRATCH == thread);
            for (int index = 0; writes && index < count(cache); index++) {
                numbers.add(number(cache, thread, index));
            }
        }
        return numbers;
    }
}
