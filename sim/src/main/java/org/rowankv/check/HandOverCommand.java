package org.rowankv.check;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.handover.HandOverReport;
import org.rowankv.check.handover.HandOverRun;
import org.rowankv.daemon.Launch;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan bench handover}: how long callers wait while a shard is handed over. */
@Command(
        name = "bench handover",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper and three server processes with two replicas, and transfers shards, one after the other, while"
                    + " a thread puts and another one gets an object of the shard. Measures the longest time between two"
                    + " answers; after each transfer the same without one.",
            "The last line is \"bench handover: transfers=N put_p50_ms=N put_p99_ms=N get_p50_ms=N get_p99_ms=N failures=0\"."
                    + " The exit code is non-zero if an operation failed, or no shard was transferred."
        })
public final class HandOverCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--rounds", description = "transfers (${DEFAULT-VALUE})", defaultValue = "200")
    private int rounds;

    @Option(
            names = "--warm-up",
            description =
                    "transfers before them, not counted: compilers of new processes take a share of the processors"
                            + " (${DEFAULT-VALUE})",
            defaultValue = "100")
    private int warmUp;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(StoreCommand.line(new HandOverCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        final Launch launch;
        try {
            launch = javas.servers();
            if (rounds < 1) {
                throw new IllegalArgumentException("--rounds is " + rounds + ", and has to be at least 1");
            }
            if (warmUp < 0) {
                throw new IllegalArgumentException("--warm-up is " + warmUp + ", and must not be negative");
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        final HandOverReport report = new HandOverRun(
                        warmUp, rounds, launch, new SplittableRandomSource(SecureSeed.next()), System.out)
                .run();
        report.print(System.out);
        return report.isWell() ? 0 : 1;
    }
}
