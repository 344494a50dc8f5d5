package org.rowankv.server.durability;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the files and directories of stores for their owner only, where the file system has POSIX permissions: a store
 * holds what its caches hold. What exists keeps its permissions. Uses FileChannels: only on an internal thread.
 */
public final class PrivateFiles {
    private static final Logger LOG = LoggerFactory.getLogger(PrivateFiles.class);

    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY = PosixFilePermissions.fromString("rwx------");

    private PrivateFiles() {}

    private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
        return isPosix(path)
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)}
                : new FileAttribute<?>[0];
    }

    private static boolean isPosix(Path path) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    /** Opens a file to write it, created if missing. */
    public static FileChannel open(Path file, StandardOpenOption... options) throws IOException {
        return FileChannel.open(file, Set.<OpenOption>of(options), attributes(file, FILE));
    }

    /** Creates the directory and missing ones above it; no effect if it exists. */
    public static void makeDirectories(Path directory) throws IOException {
        final Path unused = Files.createDirectories(directory, attributes(directory, DIRECTORY));
    }

    /** Creates one directory that must not exist. */
    public static void makeDirectory(Path directory) throws IOException {
        final Path unused = Files.createDirectory(directory, attributes(directory, DIRECTORY));
    }

    /** Logs a warning if other users of this machine may read a file in the directory. */
    public static void warnOfReaders(Path directory) throws IOException {
        if (!isPosix(directory)
                || !Files.getPosixFilePermissions(directory).contains(PosixFilePermission.OTHERS_EXECUTE)) {
            return;
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(directory, Files::isRegularFile)) {
            for (Path file : found) {
                if (Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
                    LOG.warn(
                            "ROWAN-2017 Other users of this machine may read {}: \"chmod -R go= {}\" closes it",
                            file,
                            directory);
                    return;
                }
            }
        }
    }
}
