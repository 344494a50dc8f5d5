package org.rowankv.samples.dropin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo outage}: a web application while the servers of its cache are killed. */
@Command(
        name = "demo outage",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts the Spring sample before its cluster of three processes (start=lazy), then sends it HTTP requests while"
                    + " a server is killed and started again, and while all are.",
            "Prints a line for each, \"outage: … http_5xx=0 failed=0 stale=0 …\"; any other result exits with 1, and the"
                    + " output of all processes is kept. Requests wait meanwhile: see longest_ms. After a kill, the longest"
                    + " until the new process began is restarted_ms, until it served away_ms."
        })
public final class OutageDemo implements Callable<Integer> {
    private static final int CHANGES_PERCENT = 20;
    private static final int CALM_MS = 1_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--rounds", defaultValue = "3", description = "kills of each kind (${DEFAULT-VALUE})")
    private int rounds;

    @Option(names = "--dir", description = "directory of the cluster and logs (a temporary one)")
    private @Nullable Path given;

    @Option(names = "--port", defaultValue = "7490", description = "first port of the processes (${DEFAULT-VALUE})")
    private int port;

    @Option(
            names = "--operation-timeout",
            defaultValue = "60",
            description = "seconds that the application waits for its cache (${DEFAULT-VALUE})")
    private int timeoutSeconds;

    private boolean well = true;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new OutageDemo()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (rounds < 1) {
            throw new ParameterException(spec.commandLine(), "--rounds has to be at least 1");
        }
        final Path dir = given == null ? Files.createTempDirectory("rowan-outage") : Files.createDirectories(given);
        try (ServerProcesses servers = new ServerProcesses(JavaProcess.daemonClasspath(spec), dir, port);
                WebApplication application = WebApplication.start(
                        JavaProcess.classpath(JavaProcess::isOfTheApplication),
                        dir.resolve("application.log"),
                        JavaProcess.SPRING_SAMPLE,
                        List.of(
                                "rowan.uri=" + servers.uri(),
                                "rowan.settings.start=lazy",
                                "rowan.settings.operation-timeout=" + timeoutSeconds))) {
            try (HttpLoad load = new HttpLoad(application.address(), 0)) {
                awaitRequests(load);
                servers.start();
                awaitRequests(load);
                report("before the cluster", load);
            }
            kill("servers killed", round -> new int[] {1 + round % ServerProcesses.SERVERS}, servers, application);
            kill("clusters killed", round -> new int[] {1, 2, 3}, servers, application);
        }
        if (well && given == null) {
            JavaProcess.delete(dir);
        } else {
            System.out.println("logs: " + dir);
        }
        return well ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    /** @param killed servers of a round, by its number */
    private void kill(String what, IntFunction<int[]> killed, ServerProcesses servers, WebApplication application)
            throws IOException, InterruptedException {
        try (HttpLoad load = new HttpLoad(application.address(), CHANGES_PERCENT)) {
            long restartedMs = 0;
            long awayMs = 0;
            for (int round = 0; round < rounds; round++) {
                awaitChanges(load);
                final int[] victims = killed.apply(round);
                final Instant kill = Instant.now();
                servers.kill(victims);
                servers.start();
                awayMs = Math.max(awayMs, Duration.between(kill, Instant.now()).toMillis());
                for (int server : victims) {
                    restartedMs = Math.max(
                            restartedMs, servers.untilBegin(kill, server).toMillis());
                }
            }
            awaitChanges(load);
            report(what + '=' + rounds + " restarted_ms=" + restartedMs + " away_ms=" + awayMs, load);
        }
    }

    private static void awaitRequests(HttpLoad load) throws InterruptedException {
        final int before = load.requests();
        do {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(CALM_MS));
        } while (load.requests() < before + 100);
    }

    private static void awaitChanges(HttpLoad load) throws InterruptedException {
        final int before = load.changes();
        do {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(CALM_MS));
        } while (load.changes() < before + 20);
    }

    private void report(String what, HttpLoad load) {
        load.close();
        System.out.println("outage: " + what + ' ' + load);
        well &= load.isWell();
    }
}
