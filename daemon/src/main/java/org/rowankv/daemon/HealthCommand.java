package org.rowankv.daemon;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.server.membership.HostAndPort;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan health}: the state of one server. */
@Command(
        name = "health",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Requests a server's state and prints joining, recovering, starting, serving, stopped or failed, and what it"
                    + " waits for; then which fabric carries entries, and whether acknowledged ones have LANDED in the"
                    + " receiver's memory or are FORCED to its device.",
            "Exit codes: 0 if it serves, or with --ready if it is ready, or with --live if it is live; 1 if not, or if it does"
                    + " not answer; 2 for a usage error.",
            "The same over HTTP, with code 200 or 503: GET /ready and /live at the admin address; /metrics are its metrics."
        })
public final class HealthCommand implements Callable<Integer> {
    private static final int EXIT_UNHEALTHY = 1;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--admin",
            defaultValue = "127.0.0.1:7173",
            paramLabel = "HOST:PORT",
            description = "--admin-listen of the server (${DEFAULT-VALUE})")
    private String admin;

    @Option(names = "--metrics", description = "also print the server's counters, as name=value")
    private boolean metrics;

    @Option(
            names = "--ready",
            description =
                    "whether it serves its shards: it has a lease, its shards are open, its replicas complete; for rolling restarts")
    private boolean ready;

    @Option(names = "--live", description = "whether its process is of use, also while it starts or waits")
    private boolean live;

    public static void main(String[] arguments) {
        System.exit(Commands.execute(new HealthCommand(), arguments));
    }

    @Override
    public Integer call() {
        final HostAndPort address;
        try {
            address = HostAndPort.parse(admin);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
        if (ready && live) {
            throw new ParameterException(spec.commandLine(), "--ready and --live are two questions: ask one of them");
        }
        try {
            final String question = ready ? "ready" : live ? "live" : "health";
            final String health = AdminRequest.ask(address.host(), address.port(), question);
            spec.commandLine()
                    .getOut()
                    .print(metrics ? AdminRequest.ask(address.host(), address.port(), "status") : health);
            spec.commandLine().getOut().flush();
            return health.startsWith(ready || live ? question : "serving") ? CommandLine.ExitCode.OK : EXIT_UNHEALTHY;
        } catch (IOException e) {
            spec.commandLine().getErr().println("no server answers at " + address + ": " + e.getMessage());
            return EXIT_UNHEALTHY;
        }
    }
}
