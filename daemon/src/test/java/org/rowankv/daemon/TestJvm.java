package org.rowankv.daemon;

import java.util.ArrayList;
import java.util.List;

/** Commands that start a JVM for a test: it compiles and collects as the test's own does, and so do those that it starts. */
public final class TestJvm {
    private TestJvm() {}

    /** The same program as this JVM's. The list may be added to. */
    public static List<String> command(String... arguments) {
        final List<String> command = new ArrayList<>();
        command.add(Launch.DEFAULT.java().toString());
        command.addAll(Launch.processOptions());
        command.add("-Drowan.process.options=" + String.join(" ", Launch.processOptions()));
        command.addAll(List.of(arguments));
        return command;
    }
}
