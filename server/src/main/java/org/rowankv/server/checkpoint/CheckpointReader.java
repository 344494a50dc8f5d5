package org.rowankv.server.checkpoint;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;

/**
 * A tool's view of a server's checkpoint.
 *
 * @param reason why it is unusable, or "valid"; whether it fits the area is decided at a start
 * @param number of the round; the higher of two is the newer one
 * @param incarnation of the server that took it
 * @param takenMs wall-clock milliseconds
 * @param segments that it covers in part or as a whole
 * @param objects that it names
 * @param commitVersions by shard
 */
public record CheckpointReader(
        int server,
        String file,
        String reason,
        long number,
        long incarnation,
        long takenMs,
        int segments,
        long objects,
        Map<Integer, Long> commitVersions) {
    private static final String VALID = "valid";

    /** Reads a server's checkpoints, with every checksum. */
    public static List<CheckpointReader> all(int server, CheckpointStore store) {
        final List<CheckpointReader> all = new ArrayList<>();
        store.run("rowan-checkpoint-reading", () -> {
            try {
                for (String name : store.names().stream().sorted().toList()) {
                    if (name.startsWith(Checkpoint.PREFIX)) {
                        all.add(read(server, store, name));
                    }
                }
            } catch (IOException e) {
                all.add(unusable(server, "", "the checkpoints cannot be listed: " + e));
            }
        });
        return all;
    }

    private static CheckpointReader unusable(int server, String name, String reason) {
        return new CheckpointReader(server, name, reason, 0, 0, 0, 0, 0, Map.of());
    }

    private static CheckpointReader read(int server, CheckpointStore store, String name) {
        final ByteBuffer bytes;
        try {
            bytes = readAll(store, name);
        } catch (IOException e) {
            return unusable(server, name, "it cannot be read: " + e);
        }
        final String invalid = CheckpointDescriptor.whyInvalid(bytes);
        if (invalid != null) {
            return unusable(server, name, invalid);
        }
        final Checkpoint checkpoint = CheckpointDescriptor.decode(bytes);
        final Map<Integer, Long> commitVersions = new TreeMap<>();
        long objects = 0;
        String reason = VALID;
        for (ShardPart part : checkpoint.shards()) {
            commitVersions.put(part.shard(), part.commitVersion());
            objects += part.items();
            try {
                ImageReader.verify(store, checkpoint.origin().areaId(), part);
            } catch (IOException e) {
                reason = String.valueOf(e.getMessage());
            }
        }
        return new CheckpointReader(
                server,
                name,
                reason,
                checkpoint.number(),
                checkpoint.incarnation(),
                checkpoint.takenMs(),
                checkpoint.segments().size(),
                objects,
                commitVersions);
    }

    /** Reads a whole file, or only the header of an impossible one. */
    static ByteBuffer readAll(CheckpointStore store, String name) throws IOException {
        try (ReadableByteChannel file = store.read(name)) {
            final ByteBuffer header =
                    ByteBuffer.allocate(CheckpointDescriptor.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
            fill(file, header);
            final long length = header.getLong(CheckpointDescriptor.LENGTH_OFFSET);
            if (length < header.capacity() || length > CheckpointDescriptor.MAX_LENGTH) {
                return header; // refused for its length or content
            }
            final ByteBuffer all = ByteBuffer.allocate((int) length).order(ByteOrder.LITTLE_ENDIAN);
            all.put(header.clear());
            fill(file, all);
            return all.clear();
        }
    }

    private static void fill(ReadableByteChannel file, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (file.read(buffer) < 0) {
                throw new EOFException("it ends too early");
            }
        }
    }
}
