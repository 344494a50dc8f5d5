package org.rowankv.check.area;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.rowankv.server.area.StoreOpenException;

/** The directory of a closed store. */
public final class ToolDirectory {
    private ToolDirectory() {}

    /**
     * Returns a directory that a tool may fill and empty freely.
     *
     * @throws StoreOpenException if it contains foreign files; nothing was changed
     */
    public static Path newOrEmpty(Path directory) throws IOException {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new StoreOpenException(directory + " is a file, not a directory: give a new or empty directory");
        }
        Files.createDirectories(directory);
        try (Stream<Path> found = Files.list(directory)) {
            final Path other = found.findFirst().orElse(null);
            if (other != null) {
                throw new StoreOpenException("the directory " + directory + " is not empty (" + other.getFileName()
                        + "): nothing was changed in it. Give a new or empty directory");
            }
        }
        return directory;
    }

    /** Removes a directory recursively, if it exists. */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
