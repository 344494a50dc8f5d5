package org.rowankv.daemon;

import java.util.ArrayList;
import java.util.List;

/**
 * Commands that start a JVM for a test: with the compiler and collector options of the test's own JVM, inherited by its
 * child processes.
 */
public final class TestJvm {
    private TestJvm() {}

    /** The same program as this JVM's. The list is modifiable. */
    public static List<String> command(String... arguments) {
        final List<String> command = new ArrayList<>();
        command.add(Launch.DEFAULT.java().toString());
        command.addAll(Launch.processOptions());
        command.add("-Drowan.process.options=" + String.join(" ", Launch.processOptions()));
        command.addAll(List.of(arguments));
        return command;
    }
}
