package org.rowankv.samples.dropin;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A cluster of three server processes in a directory, run by {@code rowan cluster} in processes of its own: the servers
 * have another class path than the application. Confined to one thread.
 */
final class ServerProcesses implements AutoCloseable {
    /** Number of the servers, which are counted from 1. */
    static final int SERVERS = 3;

    private static final String COMMAND = "org.rowankv.daemon.local.ClusterCommand";
    private static final int PORTS_PER_SERVER = 3;
    private static final int PATIENCE_S = 180;

    private final List<String> classpath;
    private final Path dir;
    private final int port;

    /**
     * Starts nothing yet.
     *
     * @param port of ZooKeeper, before those of the servers
     */
    ServerProcesses(String classpath, Path dir, int port) {
        this.classpath = List.of(classpath.split(File.pathSeparator));
        this.dir = dir;
        this.port = port;
    }

    /** Of the cluster, whether it runs or not. */
    String uri() {
        return IntStream.range(0, SERVERS)
                .mapToObj(server -> "127.0.0.1:" + (port + 1 + PORTS_PER_SERVER * server))
                .collect(Collectors.joining(";", "rowan://", "/"));
    }

    private Path clusterDir() {
        return dir.resolve("cluster");
    }

    /**
     * Starts the processes that do not run, and waits until all serve.
     *
     * @throws IOException if they do not
     */
    void start() throws IOException, InterruptedException {
        final String started = command(
                "start",
                "--servers",
                String.valueOf(SERVERS),
                "--capacity",
                "256m",
                "--wait",
                String.valueOf(PATIENCE_S),
                "--port",
                String.valueOf(port));
        if (!started.contains(" address=")) {
            throw new IOException("the servers have not started; their output is in " + dir);
        }
    }

    private String command(String name, String... options) throws IOException, InterruptedException {
        final List<String> arguments =
                new ArrayList<>(List.of(COMMAND, name, "--dir", clusterDir().toString()));
        arguments.addAll(List.of(options));
        return JavaProcess.run(classpath, dir.resolve("cluster-" + name + ".log"), "cluster: ", arguments);
    }

    /** Ends servers as {@code kill -9} does, all at once, and waits for their end. */
    void kill(int... numbers) throws IOException {
        final List<ProcessHandle> killed = new ArrayList<>();
        for (int server : numbers) {
            process(server).ifPresent(killed::add);
        }
        killed.forEach(ProcessHandle::destroyForcibly);
        killed.forEach(process -> process.onExit().join());
    }

    /**
     * The time from then until the present process of a server began; it serves later.
     *
     * @throws IOException if it does not run
     */
    Duration untilBegin(Instant then, int server) throws IOException {
        final Instant begin = process(server)
                .flatMap(process -> process.info().startInstant())
                .orElseThrow(() -> new IOException("server " + server + " does not run"));
        return Duration.between(then, begin);
    }

    private Optional<ProcessHandle> process(int server) throws IOException {
        final Path file = clusterDir().resolve("server-" + server + ".pid");
        return ProcessHandle.of(
                Long.parseLong(Files.readString(file, StandardCharsets.UTF_8).strip()));
    }

    /** Stops all processes that run. */
    @Override
    public void close() throws IOException {
        try {
            if (Files.exists(clusterDir())) {
                final String unused = command("stop");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
