package org.rowankv.samples.dropin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo hibernate}: a second-level cache of which Hibernate knows the URI of a file. */
@Command(
        name = "demo hibernate",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the Hibernate sample with a store in its JVM, then with three processes: two session factories over one"
                    + " store, and then over a new database. hibernate.javax.cache.uri names a file; no classes are listed.",
            "The sample reads and changes entities, collections, natural and composite ids and cached queries, by session,"
                    + " by statement and with rollbacks, and knows what each read has to return.",
            "Prints \"hibernate: operations=N failures=0 stale=0\" for each; any other result exits with 1, and the output"
                    + " of the sample is kept."
        })
public final class HibernateDemo implements Callable<Integer> {
    private static final String APPLICATION = "org.rowankv.samples.hibernate.ShopApplication";
    private static final String RESULT = "hibernate: operations=";

    @Spec
    private CommandSpec spec;

    @Option(names = "--operations", defaultValue = "40000", description = "operations of each run (${DEFAULT-VALUE})")
    private int operations;

    @Option(names = "--dir", description = "directory of stores and logs (a temporary one)")
    private @Nullable Path given;

    @Option(names = "--port", defaultValue = "7510", description = "first port of the processes (${DEFAULT-VALUE})")
    private int port;

    private boolean well = true;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new HibernateDemo()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (operations < 1) {
            throw new ParameterException(spec.commandLine(), "--operations has to be at least 1");
        }
        final Path dir = given == null ? Files.createTempDirectory("rowan-hibernate") : Files.createDirectories(given);
        final String embedded = file(dir, "embedded", """
                dir = %s
                template.*.create = true
                template.*.content = fresh
                """.formatted(dir.resolve("store")));
        run("embedded", dir, List.of(embedded, embedded));
        try (ServerProcesses servers = new ServerProcesses(JavaProcess.daemonClasspath(spec), dir, port)) {
            servers.start();
            run("cluster", dir, List.of(remote(dir, servers, "one"), remote(dir, servers, "two")));
        }
        if (well && given == null) {
            JavaProcess.delete(dir);
        } else {
            System.out.println("logs: " + dir);
        }
        return well ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private static String file(Path dir, String name, String settings) throws IOException {
        return Files.writeString(dir.resolve(name + ".properties"), settings)
                .toUri()
                .toString();
    }

    /** Each database has a generation of its own. */
    private static String remote(Path dir, ServerProcesses servers, String generation) throws IOException {
        return file(dir, generation, """
                uri = %s
                template.*.create = true
                template.*.generation = %s
                """.formatted(servers.uri(), generation));
    }

    private void run(String name, Path dir, List<String> uris) throws IOException, InterruptedException {
        System.out.println(name + ':');
        final Path log = dir.resolve(name + ".log");
        final String result = JavaProcess.run(
                JavaProcess.classpath(JavaProcess::isOfTheApplication),
                log,
                RESULT,
                Stream.concat(Stream.of(APPLICATION, String.valueOf(operations)), uris.stream())
                        .toList());
        System.out.println(result.startsWith(RESULT) ? result : "the sample has failed; its output is in " + log);
        well &= result.matches(RESULT + "[0-9]+ failures=0 stale=0");
    }
}
