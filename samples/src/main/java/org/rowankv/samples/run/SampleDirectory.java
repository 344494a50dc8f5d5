package org.rowankv.samples.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The directory of a sample's store; never one with foreign files. */
public final class SampleDirectory {
    /** Subdirectory that the samples create in it. */
    public static final String STORE = "store";

    private SampleDirectory() {}

    /** Reason not to use the directory; null if it is new, empty, or holds the store of an earlier run. */
    public static @Nullable String whyNot(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return null;
        }
        if (!Files.isDirectory(directory)) {
            return directory + " is a file, not a directory: give a new or empty directory";
        }
        if (Files.exists(directory.resolve(STORE).resolve("rowan.manifest"))) {
            return null;
        }
        try (Stream<Path> found = Files.list(directory)) {
            final Path other = found.findFirst().orElse(null);
            return other == null
                    ? null
                    : "the directory " + directory + " holds other files (" + other.getFileName()
                            + "): nothing was changed in it. Give a new or empty directory, or that of an earlier run";
        }
    }
}
