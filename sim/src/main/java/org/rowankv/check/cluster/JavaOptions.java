package org.rowankv.check.cluster;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.Launch;
import picocli.CommandLine.Option;

/** Command-line options for the Java versions of the server processes and of their clients. */
public final class JavaOptions {
    /** Several JVMs share a machine: none may take a quarter of it. */
    private static final String HEAP = "-Xmx384m";

    @Option(names = "--server-java", paramLabel = "FILE", description = "executable that runs the servers (this Java)")
    private @Nullable Path serverJava;

    @Option(names = "--client-java", paramLabel = "FILE", description = "executable that runs the clients (this Java)")
    private @Nullable Path clientJava;

    /** @throws IllegalArgumentException if it is not executable */
    public Launch servers() {
        final Launch small = Launch.DEFAULT.withJvmOptions(HEAP);
        return serverJava == null ? small : small.withJava(serverJava, "--server-java");
    }

    /** @throws IllegalArgumentException if it is not executable */
    public Path client() {
        return clientJava == null ? Launch.DEFAULT.java() : Launch.requireProgram(clientJava, "--client-java");
    }

    /** Removes {@code --client-java} from the arguments of a process that already runs on that Java. */
    public void withoutClient(List<String> arguments) {
        if (clientJava != null) {
            arguments.removeIf(each -> each.equals("--client-java")
                    || each.equals(clientJava.toString())
                    || each.startsWith("--client-java="));
        }
    }
}
