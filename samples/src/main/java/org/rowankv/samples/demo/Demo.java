package org.rowankv.samples.demo;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code rowan demo}: demonstrations, each with its measurements. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "redeploy|start",
        subcommands = {RedeployDemo.class, StartDemo.class},
        description =
                "Demonstrates what the store does for an application; \"rowan demo redeploy --help\" explains one of them."
                        + " \"rowan demo failover\" and \"rowan demo dropin\" start servers in processes of their own.")
public final class Demo {
    private Demo() {}

    /** Without a subcommand picocli reports an error and prints the usage. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Demo()).execute(args));
    }
}
