package org.rowankv.server.durability;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Atomic replacement of small files: written under a temporary name, forced, renamed, the directory forced. A crash
 * leaves the old file or the new one. Uses FileChannels: only on an internal thread.
 */
public final class DurableFile {
    /** Suffix of the temporary name; a file found with it after a crash was never complete. */
    public static final String TEMPORARY_SUFFIX = ".tmp";

    private DurableFile() {}

    /** On the device when it returns. After an exception from the last step, a crash may leave either file. */
    public static void replace(Path file, byte[] bytes) throws IOException {
        final Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY_SUFFIX);
        try {
            try (FileChannel channel = PrivateFiles.open(
                    temporary,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE)) {
                final ByteBuffer buffer = ByteBuffer.wrap(bytes);
                while (buffer.hasRemaining()) {
                    channel.write(buffer);
                }
                channel.force(true);
            }
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(temporary);
            throw e;
        }
        forceDirectory(file);
    }

    /** Deletes a file durably. */
    public static void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
        forceDirectory(file);
    }

    /** Forces the names in a file's directory to the device, where the system can open a directory for that. */
    public static void forceDirectory(Path file) throws IOException {
        final Path directory = file.toAbsolutePath().getParent();
        if (directory == null || directory.getFileSystem().getSeparator().equals("\\")) {
            return;
        }
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
