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
 * The bytes that an area's device certainly holds: a file of the area's length, followed by a word that identifies the
 * area. Every successful force of the child is repeated to it. The parent derives from both the result of a power cut.
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

    /** Maps the area's bytes, followed by the word that identifies it. For the child. */
    MappedByteBuffer map(long length) throws IOException {
        return map(file, length + Long.BYTES);
    }

    /** Returns the area's identifier: new for each area, and never 0. */
    long nameOfArea() throws IOException {
        final BasicFileAttributes attributes = Files.readAttributes(area, BasicFileAttributes.class);
        return Objects.hash(attributes.fileKey(), attributes.creationTime()) | 1L << Integer.SIZE;
    }

    /**
     * Keeps or drops each 8-byte word that was stored and not forced; both files are equal afterwards.
     *
     * @param coin whether a word is kept
     * @return number of dropped words; 0 if no unforced store is possible
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
            return 0; // the area was just created, and has no writes yet
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
