package org.rowankv.server.durability;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Replaces small files as a whole: written under a temporary name, forced, renamed, the directory forced. A crash
 * leaves the old file or the new one. Uses FileChannels: on a thread of ours only.
 */
public final class DurableFile {
    /** Ends the temporary name; what is found under such a name after a crash was never a file. */
    public static final String TEMPORARY_SUFFIX = ".tmp";

    private DurableFile() {}

    /**
     * On the device when it returns. An exception from the last step leaves open which of the two files a crash finds.
     */
    public static void replace(Path file, byte[] bytes) throws IOException {
        final Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY_SUFFIX);
        try {
            try (FileChannel channel = FileChannel.open(
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

    /** Removes a file for good. */
    public static void delete(Path file) throws IOException {
        Files.deleteIfExists(file);
        forceDirectory(file);
    }

    /** Brings the names in a file's directory to the device, where the system lets a directory be opened for that. */
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
