package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;

/**
 * One caller's keys and their possible values: exactly one after an operation that returned, the old or the new one
 * after an operation that ended in an error. Used by one thread, the only writer of these keys.
 */
final class PossibleValues {
    static final long ABSENT = 0;

    private final String prefix;
    private final int maxLength;
    private final List<List<Long>> possible = new ArrayList<>();
    private long lastNumber;
    long errors;
    long done;

    PossibleValues(String prefix, int keys, int maxLength) {
        this.prefix = prefix;
        this.maxLength = maxLength;
        for (int key = 0; key < keys; key++) {
            possible.add(new ArrayList<>(List.of(ABSENT)));
        }
    }

    private String key(int key) {
        return prefix + key;
    }

    /** Runs one operation on one of the keys; records an injected error. */
    void operate(RowanClient client, int cache, Random random) {
        final int key = random.nextInt(possible.size());
        final boolean remove = random.nextInt(4) == 0;
        final long number = remove ? ABSENT : ++lastNumber;
        final int length = random.nextInt(maxLength);
        try {
            if (random.nextInt(3) == 0) {
                requirePossible(key, client.get(cache, Stores.bytes(key(key))));
            }
            if (remove) {
                client.remove(cache, Stores.bytes(key(key)));
            } else {
                client.put(cache, Stores.bytes(key(key)), Stores.value(key(key), number, length));
            }
            possible.get(key).clear();
            done++;
        } catch (StoreFullException e) {
            return; // nothing was written
        } catch (InjectedException | StackOverflowError | OutOfMemoryError e) {
            errors++;
        }
        possible.get(key).add(number);
    }

    private void requirePossible(int key, byte[] found) {
        final long number = found == null ? ABSENT : Stores.numberOf(key(key), found);
        assertThat(possible.get(key)).as(key(key)).contains(number);
    }

    /** Requires a possible value for every key; from now on only that value is possible. */
    void requirePossible(RowanClient client, int cache) {
        for (int key = 0; key < possible.size(); key++) {
            final byte[] found = client.get(cache, Stores.bytes(key(key)));
            requirePossible(key, found);
            possible.get(key).clear();
            possible.get(key).add(found == null ? ABSENT : Stores.numberOf(key(key), found));
        }
    }

    /** Injected by tests instead of an error of the JVM. */
    static final class InjectedException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }
}
