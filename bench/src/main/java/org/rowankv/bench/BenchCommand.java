package org.rowankv.bench;

import java.util.concurrent.Callable;
import org.rowankv.bench.jcache.CodecsCommand;
import org.rowankv.bench.jcache.InvokeCommand;
import org.rowankv.bench.jcache.JCacheCommand;
import org.rowankv.bench.micro.MicroCommand;
import org.rowankv.bench.net.FrontEndCommand;
import org.rowankv.bench.net.NetCommand;
import org.rowankv.bench.paper.PaperCommand;
import org.rowankv.bench.sql.SqlRatesCommand;
import org.rowankv.bench.store.CleaningCommand;
import org.rowankv.bench.store.ColdStartCommand;
import org.rowankv.bench.store.MemoryCommand;
import org.rowankv.bench.trace.NvmWritesCommand;
import org.rowankv.bench.walk.WalkCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rowan bench}: the entry point of all benchmarks. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measures.",
        subcommands = {
            MicroCommand.class,
            JCacheCommand.class,
            CodecsCommand.class,
            InvokeCommand.class,
            ColdStartCommand.class,
            CleaningCommand.class,
            MemoryCommand.class,
            NetCommand.class,
            FrontEndCommand.class,
            NvmWritesCommand.class,
            SqlRatesCommand.class,
            PaperCommand.class,
            WalkCommand.class
        })
public final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(new CommandLine(new BenchCommand()).execute(args));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(System.err);
        return CommandLine.ExitCode.USAGE;
    }
}
