package org.rowankv.server.area;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The identity of a file or directory that survives a move and not a copy: its inode number. A guard against accidents,
 * not a proof: a copy on another file system may get the same number by chance.
 */
public final class FileIdentity {
    /** For file systems without it; never compared. */
    public static final long UNKNOWN = 0;

    private FileIdentity() {}

    public static long of(Path path) throws IOException {
        try {
            return Files.getAttribute(path, "unix:ino") instanceof Number inode ? inode.longValue() : UNKNOWN;
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return UNKNOWN;
        }
    }

    /** Whether a file recorded with one identity and found with another must be a copy. */
    public static boolean isCopy(long recorded, long found) {
        return recorded != UNKNOWN && found != UNKNOWN && recorded != found;
    }
}
