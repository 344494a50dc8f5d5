package org.rowankv.check;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.keys.KeyPairs;
import org.rowankv.check.keys.OtherJvm;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan check}: checks of parts that need no store. */
@Command(
        name = "check",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        subcommands = CheckCommand.Keys.class,
        description = "Checks parts that need no store; \"rowan check keys --help\" explains one.")
public final class CheckCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new CheckCommand()).execute(args));
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "say what to check: keys");
    }

    /** {@code rowan check keys}: compares the bytes of keys with their {@code equals}. */
    @Command(
            name = "keys",
            mixinStandardHelpOptions = true,
            sortOptions = false,
            description = {
                "Makes pairs of equal keys of many shapes differently: other classes of collections, other orders, other"
                        + " instances, another JVM. Their bytes must be equal, and a decoded key must equal its"
                        + " original. Unequal keys must have other bytes.",
                "The last line is \"keys: shapes=N pairs=N misses=0 unequal=N confused=0\"; any other result exits"
                        + " non-zero."
            })
    static final class Keys implements Callable<Integer> {
        private static final int KEYS_OF_ANOTHER_JVM = 1_000;

        @Option(
                names = "--pairs",
                description = "pairs of equal keys (default: ${DEFAULT-VALUE})",
                defaultValue = "1000000")
        private long pairs;

        @Option(names = "--seed", description = "seed of the contents")
        private @Nullable Long seed;

        @Override
        public Integer call() throws IOException, InterruptedException {
            final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
            System.out.println("keys: seed " + chosen);
            final KeyPairs compared = new KeyPairs(chosen);
            compared.compareLines(
                    KeyPairs.checksums(chosen, 0, KEYS_OF_ANOTHER_JVM),
                    OtherJvm.checksums(chosen, 1, KEYS_OF_ANOTHER_JVM));
            compared.compare(pairs);
            compared.findings().forEach(finding -> System.out.println("keys: " + finding));
            System.out.println("keys: shapes=" + KeyPairs.shapes() + " pairs=" + compared.pairs() + " misses="
                    + compared.misses() + " unequal=" + compared.unequal() + " confused=" + compared.confused());
            return compared.misses() + compared.confused() == 0 ? StoreCommand.WELL : StoreCommand.WRONG;
        }
    }
}
