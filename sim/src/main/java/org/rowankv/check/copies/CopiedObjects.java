package org.rowankv.check.copies;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rowankv.driver.BulkResult;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.runtime.RandomSource;

/**
 * The objects that are copied: all values have the same length, so that a put of another one changes nothing of how much
 * there is to copy.
 *
 * @param count numbered from zero
 * @param valueBytes length of each value
 */
record CopiedObjects(int count, int valueBytes) {
    private static final int BATCH = 256;
    private static final int KEY_DIGITS = 12;

    /** Bytes of all keys and values; what the log adds to them does not count. */
    long bytes(long objects) {
        return objects * (KEY_DIGITS + valueBytes);
    }

    byte[] key(int number) {
        return String.format(Locale.ROOT, "%0" + KEY_DIGITS + "d", number).getBytes(StandardCharsets.US_ASCII);
    }

    byte[] value(RandomSource random) {
        final byte[] value = new byte[valueBytes];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) random.nextInt(1 << Byte.SIZE);
        }
        return value;
    }

    /**
     * Puts those from one number to another.
     *
     * @throws RowanException if one is refused
     */
    void put(RowanClient client, int cacheId, int from, int to, RandomSource random) {
        final byte[] value = value(random);
        for (int first = from; first < to; first += BATCH) {
            final List<byte[]> keys = new ArrayList<>();
            final List<byte[]> values = new ArrayList<>();
            for (int number = first; number < Math.min(to, first + BATCH); number++) {
                keys.add(key(number));
                values.add(value);
            }
            for (BulkResult result : client.putAll(cacheId, keys, values)) {
                final RowanException failure = result.failure();
                if (failure != null) {
                    throw failure;
                }
            }
        }
    }
}
