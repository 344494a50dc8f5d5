package org.rowankv.daemon;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.rowankv.daemon.local.LocalCluster;

/**
 * Parameters with which the processes of a {@link LocalCluster} start. Immutable.
 *
 * @param java the program
 * @param jvmOptions of every process
 * @param advertised by server: its address for clients, {@code host:port}, if different from its listen address; may be
 * empty
 * @param peersAdvertised the same for other servers
 * @param serverOptions of {@code rowan server}, of every server
 * @param endsWithParent whether they end with the process that started them, however that ends
 */
public record Launch(
        Path java,
        List<String> jvmOptions,
        List<String> advertised,
        List<String> peersAdvertised,
        List<String> serverOptions,
        boolean endsWithParent) {
    /** With this process's own Java. */
    public static final Launch DEFAULT = new Launch(ownJava(), List.of(), List.of(), List.of(), List.of(), false);

    public Launch {
        jvmOptions = List.copyOf(jvmOptions);
        advertised = List.copyOf(advertised);
        peersAdvertised = List.copyOf(peersAdvertised);
        serverOptions = List.copyOf(serverOptions);
    }

    /** Options of every JVM that this one starts: the property {@code rowan.process.options}, split at blanks. */
    public static List<String> processOptions() {
        final String options = System.getProperty("rowan.process.options", "").trim();
        return options.isEmpty() ? List.of() : List.of(options.split("\\s+"));
    }

    private static Path ownJava() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    public Launch withJava(Path newJava) {
        return new Launch(newJava, jvmOptions, advertised, peersAdvertised, serverOptions, endsWithParent);
    }

    /**
     * With the named Java.
     *
     * @param option that names it
     * @throws IllegalArgumentException if it is not a program; the message names the option
     */
    public Launch withJava(Path named, String option) {
        return withJava(requireProgram(named, option));
    }

    /**
     * The same path, if it is a program.
     *
     * @param option that names it
     * @throws IllegalArgumentException if it is not a program
     */
    public static Path requireProgram(Path path, String option) {
        if (!Files.isExecutable(path) || Files.isDirectory(path)) {
            throw new IllegalArgumentException(
                    option + " " + path + " is no program: give the java of a JDK, /path/to/jdk/bin/java");
        }
        return path;
    }

    public Launch withJvmOptions(String... options) {
        return new Launch(java, List.of(options), advertised, peersAdvertised, serverOptions, endsWithParent);
    }

    public Launch withAdvertised(List<String> addresses) {
        return new Launch(java, jvmOptions, addresses, peersAdvertised, serverOptions, endsWithParent);
    }

    public Launch withPeersAdvertised(List<String> addresses) {
        return new Launch(java, jvmOptions, advertised, addresses, serverOptions, endsWithParent);
    }

    /** They replace those of the same name that a local cluster gives. */
    public Launch withServerOptions(String... options) {
        return new Launch(java, jvmOptions, advertised, peersAdvertised, List.of(options), endsWithParent);
    }

    /** They end with the process that starts them, even if it is killed. */
    public Launch endingWithParent() {
        return new Launch(java, jvmOptions, advertised, peersAdvertised, serverOptions, true);
    }
}
