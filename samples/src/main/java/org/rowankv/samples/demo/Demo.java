package org.rowankv.samples.demo;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code rowan demo}: things to be seen, each with its figures. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "redeploy|start",
        subcommands = {RedeployDemo.class, StartDemo.class},
        description =
                "Shows what the store does to an application; \"rowan demo redeploy --help\" explains one of them.")
public final class Demo {
    private Demo() {}

    /** Without a subcommand picocli complains and shows the usage. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Demo()).execute(args));
    }
}
