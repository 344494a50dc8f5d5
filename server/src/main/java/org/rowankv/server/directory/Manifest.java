package org.rowankv.server.directory;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import org.rowankv.server.area.StoreOpenException;

/**
 * What a store directory says about itself, as lines of text that a person can read:
 *
 * <pre>
 *   rowan-kv store
 *   format=1
 *   state=complete
 *   cluster=5f0c…        16 hex digits
 *   servers=3
 *   replicas=3
 *   capacity=268435456
 *   shards=48
 *   segment-length=4194304
 *   directory=131074     inode of the directory, 0 = unknown
 *   checksum=8d41…       CRC32C of the lines above, 8 hex digits
 * </pre>
 *
 * <p>Replaced as a whole. While the state is "creating" nothing that counts is in the store.
 */
public record Manifest(boolean complete, long clusterId, StoreShape shape, long directoryIdentity) {
    static final String FIRST_LINE = "rowan-kv store";
    static final int FORMAT_VERSION = 1;
    public static final int MAX_LENGTH = 4096;

    private static final String COMPLETE = "complete";
    private static final String CREATING = "creating";

    public Manifest {
        if (clusterId == 0) {
            throw new IllegalArgumentException("a cluster id is not 0");
        }
    }

    public byte[] encode() {
        final String lines = FIRST_LINE + "\n"
                + "format=" + FORMAT_VERSION + "\n"
                + "state=" + (complete ? COMPLETE : CREATING) + "\n"
                + "cluster=" + Long.toHexString(clusterId) + "\n"
                + "servers=" + shape.servers() + "\n"
                + "replicas=" + shape.replicas() + "\n"
                + "capacity=" + shape.capacity() + "\n"
                + "shards=" + shape.shards() + "\n"
                + "segment-length=" + shape.segmentLength() + "\n"
                + "directory=" + directoryIdentity + "\n";
        return (lines + "checksum=" + checksum(lines) + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Throws StoreOpenException with the reason, which names the file. */
    static Manifest decode(String file, byte[] bytes) {
        final String text = new String(bytes, StandardCharsets.US_ASCII);
        if (!text.startsWith(FIRST_LINE + "\n")) {
            throw damaged(file, "it does not begin with '" + FIRST_LINE + "'");
        }
        final Map<String, String> values = new HashMap<>();
        for (String line : text.split("\n", -1)) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        // The version before the checksum: another version may compute it differently.
        final String format = values.getOrDefault("format", "");
        if (!format.equals(Integer.toString(FORMAT_VERSION))) {
            throw new StoreOpenException("the store of " + file + " has format version " + format
                    + ", this version of Rowan-KV reads " + FORMAT_VERSION
                    + ": open it with the version that wrote it, and copy the objects over");
        }
        final int checksumAt = text.lastIndexOf("checksum=");
        if (checksumAt < 0 || !checksum(text.substring(0, checksumAt)).equals(values.get("checksum"))) {
            throw damaged(file, "its checksum is wrong");
        }
        try {
            final String state = value(values, "state");
            if (!state.equals(COMPLETE) && !state.equals(CREATING)) {
                throw new IllegalArgumentException("its state is " + state);
            }
            return new Manifest(
                    state.equals(COMPLETE),
                    Long.parseUnsignedLong(value(values, "cluster"), 16),
                    new StoreShape(
                            Integer.parseInt(value(values, "servers")),
                            Integer.parseInt(value(values, "replicas")),
                            Long.parseLong(value(values, "capacity")),
                            Integer.parseInt(value(values, "shards")),
                            Integer.parseInt(value(values, "segment-length"))),
                    Long.parseLong(value(values, "directory")));
        } catch (IllegalArgumentException e) {
            throw damaged(file, String.valueOf(e.getMessage()));
        }
    }

    Manifest completed() {
        return new Manifest(true, clusterId, shape, directoryIdentity);
    }

    public Manifest movedTo(long newDirectoryIdentity) {
        return new Manifest(complete, clusterId, shape, newDirectoryIdentity);
    }

    private static String value(Map<String, String> values, String name) {
        final String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("it has no line " + name);
        }
        return value;
    }

    private static StoreOpenException damaged(String file, String reason) {
        return new StoreOpenException(
                file + " is damaged: " + reason + ". Put the store back from a backup, or start with an empty dir");
    }

    private static String checksum(String lines) {
        final CRC32C crc = new CRC32C();
        crc.update(lines.getBytes(StandardCharsets.US_ASCII));
        return String.format("%08x", crc.getValue());
    }
}
