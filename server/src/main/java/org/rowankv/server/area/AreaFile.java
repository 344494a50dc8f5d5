package org.rowankv.server.area;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.LongFunction;
import org.rowankv.server.durability.DurableFile;
import org.rowankv.server.durability.PrivateFiles;

/**
 * Creates the file of an area: prefilled, so that every block exists and no write through a mapping can hit a full
 * disk. It grows under a temporary name and is renamed when complete. Uses FileChannels: only on an internal thread.
 */
public final class AreaFile {
    private static final int BUFFER_LENGTH = 1 << 20;

    private AreaFile() {}

    /** The file's name until it is complete. */
    static Path temporary(Path file) {
        return file.resolveSibling(file.getFileName() + ".tmp");
    }

    /**
     * Creates the whole file: zeros after the superblocks. On the device when it returns; leaves nothing behind on
     * failure.
     *
     * @param superblocks of a new area, for the given file identity
     */
    public static void make(Path file, long length, LongFunction<ByteBuffer> superblocks) throws IOException {
        requireSpace(file, length);
        final Path temporary = temporary(file);
        Files.deleteIfExists(temporary);
        try {
            try (FileChannel channel =
                    PrivateFiles.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                writeZeros(channel, length);
                final ByteBuffer front = superblocks.apply(FileIdentity.of(temporary));
                while (front.hasRemaining()) {
                    channel.write(front, front.position());
                }
                channel.force(true);
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            DurableFile.forceDirectory(file);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
    }

    static void writeZeros(WritableByteChannel channel, long length) throws IOException {
        final ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(BUFFER_LENGTH, length));
        long left = length;
        while (left > 0) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), left));
            left -= channel.write(zeros);
        }
    }

    private static void requireSpace(Path file, long length) throws IOException {
        final Path directory = file.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new StoreOpenException("there is no directory " + directory + " for the area " + file);
        }
        if (usable(directory) < length && !ClosedMappings.release(() -> usable(directory) >= length)) {
            throw diskFull(file, length, usable(directory));
        }
    }

    private static long usable(Path directory) {
        try {
            return Files.getFileStore(directory).getUsableSpace();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static StoreOpenException diskFull(Path where, long needed, long usable) {
        return new StoreOpenException("not enough disk space at " + where + ": " + needed + " bytes are needed, "
                + usable + " are usable. Free some, give a smaller capacity=, or another dir=");
    }
}
