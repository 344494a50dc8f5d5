package org.rowankv.check.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A JDK of another version than the running one: the one named by the system property {@code rowan.other.java} (its
 * {@code bin/java}), else one in a sibling directory. For 17 it is 25 or newer, for any other version 17.
 */
final class OtherJava {
    private static final int OLDEST = 17;
    private static final int NEWEST = 25;
    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

    private OtherJava() {}

    /** The executable; empty if there is none. */
    static Optional<Path> find() throws IOException {
        final String given = System.getProperty("rowan.other.java", "");
        if (!given.isEmpty()) {
            return Optional.of(Path.of(given));
        }
        final Path beside =
                Path.of(System.getProperty("java.home")).toRealPath().getParent();
        if (beside == null) {
            return Optional.empty();
        }
        try (Stream<Path> all = Files.list(beside)) {
            return all.sorted()
                    .filter(OtherJava::isOther)
                    .map(home -> home.resolve("bin").resolve("java"))
                    .filter(Files::isExecutable)
                    .findFirst();
        }
    }

    private static boolean isOther(Path home) {
        final int version = versionOf(home);
        return Runtime.version().feature() == OLDEST ? version >= NEWEST : version == OLDEST;
    }

    /** 0 if it is not a JDK, or has no version. */
    private static int versionOf(Path home) {
        try {
            final Matcher found = VERSION.matcher(Files.readString(home.resolve("release")));
            return found.find() ? Integer.parseInt(found.group(1)) : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    /** Message of a test that cannot run without it. */
    static String missing() {
        return "there is no JDK " + (Runtime.version().feature() == OLDEST ? NEWEST : OLDEST) + " beside "
                + System.getProperty("java.home") + ": give one, -Drowan.other.java=/path/to/jdk/bin/java";
    }
}
