package org.rowankv.samples.quickstart;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** The expected content of the store: the SHA-256 of every object by key, or that it was removed. */
public final class ObjectDigests {
    private static final String REMOVED = "removed";

    private final Map<String, String> digests = new LinkedHashMap<>();

    void stored(String key, byte[] value) {
        digests.put(key, sha256(value));
    }

    void removed(String key) {
        digests.put(key, REMOVED);
    }

    boolean isRemoved(String key) {
        return REMOVED.equals(digests.get(key));
    }

    /** Whether the key must hold this value; null: no value. */
    boolean agrees(String key, byte @org.jspecify.annotations.Nullable [] value) {
        final String expected = digests.get(key);
        return value == null ? REMOVED.equals(expected) : sha256(value).equals(expected);
    }

    Iterable<String> keys() {
        return digests.keySet();
    }

    int size() {
        return digests.size();
    }

    long objectsLeft() {
        return digests.values().stream()
                .filter(digest -> !REMOVED.equals(digest))
                .count();
    }

    void write(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Map.Entry<String, String> entry : digests.entrySet()) {
                out.write(entry.getValue() + ' ' + entry.getKey() + '\n');
            }
        }
    }

    static ObjectDigests read(Path file) throws IOException {
        final ObjectDigests manifest = new ObjectDigests();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                final int space = line.indexOf(' ');
                manifest.digests.put(line.substring(space + 1), line.substring(0, space));
            }
        }
        return manifest;
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK implements SHA-256", e);
        }
    }
}
