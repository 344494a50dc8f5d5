package org.rowankv.check.crash;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * What an area's device is known to hold: a file of the area's length, to which every force of the child is repeated once
 * it has succeeded, and a last word that says of which area. The parent makes of both what a power cut leaves.
 */
final class Shadow {
    private final Path area;
    private final Path file;

    private Shadow(Path area, Path file) {
        this.area = area;
        this.file = file;
    }

    static Shadow of(Path area) {
        return new Shadow(area, Path.of(area + ".shadow"));
    }

    /** The area's bytes, and behind them the word that names it. For the child. */
    MappedByteBuffer map(long length) throws IOException {
        return map(file, length + Long.BYTES);
    }

    /** Another area than any before, and never 0. */
    long nameOfArea() throws IOException {
        final BasicFileAttributes attributes = Files.readAttributes(area, BasicFileAttributes.class);
        return Objects.hash(attributes.fileKey(), attributes.creationTime()) | 1L << Integer.SIZE;
    }

    /**
     * Keeps or drops each 8-byte word that was stored and not forced; both files hold the same afterwards.
     *
     * @param coin whether a word is kept
     * @return how many words were dropped; 0 if nothing can have been stored that was not forced
     */
    long cutPower(BooleanSupplier coin) throws IOException {
        if (!Files.exists(area) || !Files.exists(file)) {
            return 0;
        }
        final long length = Files.size(area);
        if (Files.size(file) != length + Long.BYTES) {
            return 0;
        }
        final MappedByteBuffer device = map(file, length + Long.BYTES);
        if (device.getLong((int) length) != nameOfArea()) {
            return 0; // the area was just made, and not written to yet
        }
        final MappedByteBuffer stored = map(area, length);
        long dropped = 0;
        for (int at = 0; at < length; at += Long.BYTES) {
            if (stored.getLong(at) != device.getLong(at)) {
                if (coin.getAsBoolean()) {
                    device.putLong(at, stored.getLong(at));
                } else {
                    stored.putLong(at, device.getLong(at));
                    dropped++;
                }
            }
        }
        return dropped;
    }

    private static MappedByteBuffer map(Path file, long length) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
            mapped.order(ByteOrder.LITTLE_ENDIAN);
            return mapped;
        }
    }
}
