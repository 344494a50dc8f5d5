package org.rowankv.rdma.landing;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Descriptors of this process that a fabric may have opened. Files are not counted: the JVM opens them when it likes, as for
 * classes that it had not loaded yet.
 */
public final class Descriptors {
    private Descriptors() {}

    public static long open() {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(Descriptors::isOfAFabric).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfAFabric(Path descriptor) {
        try {
            final String what = Files.readSymbolicLink(descriptor).toString();
            return what.startsWith("socket:") || what.startsWith("pipe:") || what.startsWith("anon_inode:");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    /**
     * Until there are no more than that. What a sender has closed before it was accepted is accepted all the same, and closed
     * then.
     */
    public static void awaitAtMost(long count) {
        await().until(Descriptors::open, open -> open <= count);
    }
}
