package org.rowankv.server.area;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What stays with a file or directory when it is moved and changes when it is copied: its inode number. A guard against
 * accidents, not a proof: a copy on another file system may get the same number by chance.
 */
public final class FileIdentity {
    /** Where the file system has no such thing; never compared. */
    public static final long UNKNOWN = 0;

    private FileIdentity() {}

    public static long of(Path path) throws IOException {
        try {
            return Files.getAttribute(path, "unix:ino") instanceof Number inode ? inode.longValue() : UNKNOWN;
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return UNKNOWN;
        }
    }

    /** Whether a file that was recorded with one identity and is found with another must be a copy. */
    public static boolean isCopy(long recorded, long found) {
        return recorded != UNKNOWN && found != UNKNOWN && recorded != found;
    }
}
