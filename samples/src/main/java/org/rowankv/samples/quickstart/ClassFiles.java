package org.rowankv.samples.quickstart;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The class files of the running JDK: real data available on every machine. */
final class ClassFiles {
    private ClassFiles() {}

    /** Returns the first {@code limit} of them in alphabetical order. */
    static List<Path> list(long limit) throws IOException {
        final Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> all = Files.walk(modules)) {
            return all.filter(path -> path.toString().endsWith(".class"))
                    .sorted()
                    .limit(limit)
                    .toList();
        }
    }

    static long bytes(List<Path> files) throws IOException {
        long sum = 0;
        for (Path file : files) {
            sum += Files.size(file);
        }
        return sum;
    }
}
