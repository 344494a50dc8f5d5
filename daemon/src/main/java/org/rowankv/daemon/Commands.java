package org.rowankv.daemon;

import org.rowankv.daemon.options.OptionDefaults;
import picocli.CommandLine;

/** Runs commands whose options may also stand in the environment and in an options file. */
final class Commands {
    private Commands() {}

    static int execute(Object command, String... arguments) {
        final CommandLine line = new CommandLine(command);
        try {
            line.setDefaultValueProvider(new OptionDefaults(System.getenv(), arguments));
        } catch (IllegalArgumentException e) {
            line.getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        }
        return line.execute(arguments);
    }
}
