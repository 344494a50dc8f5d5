package org.rowankv.samples.dropin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo dropin}: one application, three caches. */
@Command(
        name = "demo dropin",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the Spring sample, which is written for no cache in particular, with Ehcache, with Rowan-KV in its JVM,"
                    + " and with Rowan-KV in three processes. Only the class path and one property differ.",
            "The application makes requests of itself by keys of many shapes (two arguments, records, lists, sets, results"
                    + " that are null or exceptions, Hibernate's entities, collections and queries), changes what they"
                    + " return, and knows what each response has to be.",
            "Prints \"dropin: requests=N differences=0 stale=0 errors=0\" for each; any other result exits with 1, and the"
                    + " output of the application is kept."
        })
public final class DropInDemo implements Callable<Integer> {
    private static final String RESULT = "dropin: ";

    /** Cache below the application. */
    enum Form {
        EHCACHE,
        EMBEDDED,
        CLUSTER
    }

    @Spec
    private CommandSpec spec;

    @Option(names = "--requests", defaultValue = "100000", description = "requests of each run (${DEFAULT-VALUE})")
    private int requests;

    @Option(names = "--form", split = ",", description = "only these of ${COMPLETION-CANDIDATES}")
    private List<Form> forms = List.of(Form.values());

    @Option(names = "--dir", description = "directory of stores and logs (a temporary one)")
    private @Nullable Path given;

    @Option(names = "--port", defaultValue = "7470", description = "first port of the processes (${DEFAULT-VALUE})")
    private int port;

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new DropInDemo())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (requests < 1) {
            throw new ParameterException(spec.commandLine(), "--requests has to be at least 1");
        }
        final Path dir = given == null ? Files.createTempDirectory("rowan-dropin") : Files.createDirectories(given);
        boolean well = true;
        for (Form form : forms) {
            System.out.println(form.name().toLowerCase(Locale.ROOT) + ':');
            final String result = run(form, dir);
            System.out.println(result);
            well &= result.matches("dropin: requests=[0-9]+ differences=0 stale=0 errors=0");
        }
        if (well && given == null) {
            JavaProcess.delete(dir);
        } else {
            System.out.println("logs: " + dir);
        }
        return well ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private String run(Form form, Path dir) throws IOException, InterruptedException {
        return switch (form) {
            case EHCACHE -> application(form, dir, entry -> !isOurs(entry), List.of());
            case EMBEDDED ->
                application(form, dir, JavaProcess::isOfTheApplication, List.of("--rowan.dir=" + dir.resolve("store")));
            case CLUSTER -> inProcesses(dir);
        };
    }

    /** Of Rowan-KV, but for the application. */
    private static boolean isOurs(String entry) {
        final String name = String.valueOf(Path.of(entry).getFileName());
        return name.startsWith("rowan-") && !name.startsWith("rowan-sample-");
    }

    private String application(Form form, Path dir, Predicate<String> entries, List<String> property)
            throws IOException, InterruptedException {
        final List<String> classpath = JavaProcess.classpath(entries);
        final Path log = dir.resolve(form.name().toLowerCase(Locale.ROOT) + ".log");
        final List<String> arguments = new ArrayList<>(List.of(
                JavaProcess.SPRING_SAMPLE,
                "--library.requests=" + requests,
                "--spring.main.web-application-type=none"));
        arguments.addAll(property);
        final String result = JavaProcess.run(classpath, log, RESULT, arguments);
        return result.startsWith(RESULT) ? result : "the application has failed; its output is in " + log;
    }

    private String inProcesses(Path dir) throws IOException, InterruptedException {
        try (ServerProcesses servers = new ServerProcesses(JavaProcess.daemonClasspath(spec), dir, port)) {
            servers.start();
            return application(
                    Form.CLUSTER, dir, JavaProcess::isOfTheApplication, List.of("--rowan.uri=" + servers.uri()));
        }
    }
}
