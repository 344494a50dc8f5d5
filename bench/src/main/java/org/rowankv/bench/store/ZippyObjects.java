package org.rowankv.bench.store;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.rowankv.bench.report.ObjectSizes;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.embedded.EmbeddedSettings;

/** Numbered objects whose sizes have the means of ZippyDB, and a store with room for them. Confined to one thread. */
public final class ZippyObjects {
    static final double AVERAGE_BYTES = ObjectSizes.ZIPPY_DB.mean();

    /** 40 to 56 bytes: unlike the study's, lengths are uniform. */
    private static final int KEY_LENGTHS = 17;

    private static final int SHORTEST_KEY = shortest(ObjectSizes.ZIPPY_DB.key(), KEY_LENGTHS);
    /** 20 to 65 bytes. */
    private static final int VALUE_LENGTHS = 46;

    private static final int SHORTEST_VALUE = shortest(ObjectSizes.ZIPPY_DB.value(), VALUE_LENGTHS);
    /** Log bytes per object, with room for cleaning. */
    private static final long CAPACITY_PER_OBJECT = 260;

    private final RowanClient client;
    private final int cacheId;
    private final Request request = new Request();

    public ZippyObjects(RowanClient client) {
        this(client, client.catalogue().create("bench", new byte[0]).id());
    }

    /** @param cacheId of an existing cache, or of one that needs no entry in the catalogue */
    ZippyObjects(RowanClient client, int cacheId) {
        this.client = client;
        this.cacheId = cacheId;
    }

    /** Bytes of an area with room for so many, a multiple of the segments' length. */
    static long capacity(int objects) {
        return Math.max(256L << 20, (objects * CAPACITY_PER_OBJECT >> 22) + 1 << 22);
    }

    static Consumer<EmbeddedSettings.Builder> settings(Path directory, int objects) {
        return with -> {
            with.dir = directory;
            with.capacityBytes = capacity(objects);
        };
    }

    private static int shortest(double mean, int lengths) {
        return (int) Math.round(mean) - lengths / 2;
    }

    private static byte[] key(int number) {
        final String digits = "object-" + number + "-";
        final byte[] key = new byte[SHORTEST_KEY + number % KEY_LENGTHS];
        Arrays.fill(key, (byte) 'k');
        System.arraycopy(digits.getBytes(StandardCharsets.ISO_8859_1), 0, key, 0, digits.length());
        return key;
    }

    /** Writes or overwrites the object with that number. */
    public void put(int number) {
        final byte[] key = key(number);
        final byte[] value = new byte[SHORTEST_VALUE + (int) ((number * 2654435761L >>> 16) % VALUE_LENGTHS)];
        client.execute(request.put(cacheId, key, 0, key.length, value, 0, value.length));
        if (request.status() != Status.OK) {
            throw new IllegalStateException("put answered " + request.status());
        }
    }

    /** Reads the object with that number, which exists. */
    public void get(int number) {
        final byte[] key = key(number);
        client.execute(request.get(cacheId, key, 0, key.length));
        if (request.status() != Status.OK) {
            throw new IllegalStateException("get answered " + request.status());
        }
    }

    /** Writes this many objects, from number 0; prints progress after each million. */
    void fill(int objects, String bench) {
        for (int i = 0; i < objects; i++) {
            put(i);
            if ((i + 1) % 1_000_000 == 0) {
                System.err.println(bench + ": " + (i + 1) + " objects");
            }
        }
    }
}
