package org.rowankv.check.keys;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A JVM of its own that makes keys and prints the checksums of their bytes. Stateless. */
public final class OtherJvm {
    private OtherJvm() {}

    public static void main(String[] args) {
        KeyPairs.checksums(Long.parseLong(args[0]), Long.parseLong(args[1]), Integer.parseInt(args[2]))
                .forEach(System.out::println);
    }

    /** As {@link KeyPairs#checksums}, with other identity hash codes and another order of immutable sets. */
    public static List<String> checksums(long contentSeed, long styleSeed, int keys)
            throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UnlockExperimentalVMOptions",
                        "-XX:hashCode=3",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OtherJvm.class.getName(),
                        Long.toString(contentSeed),
                        Long.toString(styleSeed),
                        Integer.toString(keys))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            final List<String> read = lines.lines().toList();
            process.waitFor();
            return read;
        } finally {
            process.destroy();
        }
    }
}
