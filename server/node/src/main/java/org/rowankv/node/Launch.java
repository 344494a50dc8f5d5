package org.rowankv.node;

import java.nio.file.Path;
import java.util.List;

/**
 * How the processes of a {@link LocalCluster} are started. Immutable.
 *
 * @param java the program
 * @param jvmOptions of every process
 * @param advertised by server: where clients reach it, {@code host:port}, if that is not where it listens; may be empty
 * @param serverOptions of {@code rowan server}, of every server
 */
public record Launch(Path java, List<String> jvmOptions, List<String> advertised, List<String> serverOptions) {
    /** By this process's own Java. */
    public static final Launch DEFAULT = new Launch(ownJava(), List.of(), List.of(), List.of());

    public Launch {
        jvmOptions = List.copyOf(jvmOptions);
        advertised = List.copyOf(advertised);
        serverOptions = List.copyOf(serverOptions);
    }

    private static Path ownJava() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    public Launch withJava(Path newJava) {
        return new Launch(newJava, jvmOptions, advertised, serverOptions);
    }

    public Launch withJvmOptions(String... options) {
        return new Launch(java, List.of(options), advertised, serverOptions);
    }

    public Launch withAdvertised(List<String> addresses) {
        return new Launch(java, jvmOptions, addresses, serverOptions);
    }

    public Launch withServerOptions(String... options) {
        return new Launch(java, jvmOptions, advertised, List.of(options));
    }
}
