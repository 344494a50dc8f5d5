package org.rowankv.check;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.copies.CopyRateReport;
import org.rowankv.check.copies.CopyRateRun;
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

/** {@code rowan bench copy}: how fast the replicas of a lost disk are made again. */
@Command(
        name = "bench copy",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper and three server processes with two replicas, and puts objects. Callers get and put, as fast"
                    + " as they can, then at half that rate. Then a server is killed, and starts with an empty directory: the"
                    + " others copy to it what it has lost. With --returning it has its directory still, and is sent what it"
                    + " lacks.",
            "The last line is \"bench copy: objects=N mb_per_s=N objects_per_s=N p99_ms=N p99_copying_ms=N failures=0\":"
                    + " objects copied, keys and values in 10^6 bytes, the callers' 99th percentile before the loss and while"
                    + " copies were made, and operations that failed at any time. The exit code is non-zero if some did."
        })
public final class CopyRateCommand implements Callable<Integer> {
    private static final int MOST_VALUE_BYTES = 64 << 10;

    @Spec
    private CommandSpec spec;

    @Option(names = "--objects", description = "number of objects (${DEFAULT-VALUE})", defaultValue = "600000")
    private int objects;

    @Option(
            names = "--value-bytes",
            description = "length of each value, at most 65536 (${DEFAULT-VALUE})",
            defaultValue = "1024")
    private int valueBytes;

    @Option(
            names = "--seconds",
            description = "of full load, and of half load before the loss (${DEFAULT-VALUE})",
            defaultValue = "10")
    private int seconds;

    @Option(names = "--returning", description = "the server keeps its directory")
    private boolean returning;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(StoreCommand.line(new CopyRateCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        final Launch launch;
        try {
            launch = javas.servers();
            require("--objects", objects, 1, Integer.MAX_VALUE);
            require("--value-bytes", valueBytes, 0, MOST_VALUE_BYTES);
            require("--seconds", seconds, 1, Integer.MAX_VALUE);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        final CopyRateReport report = new CopyRateRun(
                        objects,
                        valueBytes,
                        seconds,
                        returning,
                        launch,
                        new SplittableRandomSource(SecureSeed.next()),
                        System.out)
                .run();
        report.print(System.out);
        return report.failures() == 0 ? 0 : 1;
    }

    private static void require(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    option + " is " + value + ", and has to be from " + least + " to " + most);
        }
    }
}
