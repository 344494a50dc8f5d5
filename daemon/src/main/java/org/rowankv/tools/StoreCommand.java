package org.rowankv.tools;

import java.util.concurrent.Callable;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationStoreException;
import picocli.CommandLine;

/**
 * Exit codes and error output of commands on a closed store: 0 if all is well, 1 if the store has a defect, 2 if it
 * could not be read or for a usage error.
 */
public final class StoreCommand {
    public static final int WELL = 0;
    public static final int WRONG = 1;
    public static final int REFUSED = 2;

    private StoreCommand() {}

    /** Wraps a command; a refusal is one line on the standard error, without a stack trace. */
    public static CommandLine line(Callable<Integer> command) {
        final CommandLine line = new CommandLine(command);
        line.setExecutionExceptionHandler((failure, from, parsed) -> {
            if (failure instanceof StoreOpenException || failure instanceof ConfigurationStoreException) {
                from.getErr().println(from.getCommandName() + ": " + failure.getMessage());
                from.getErr().flush();
                return REFUSED;
            }
            throw failure;
        });
        return line;
    }
}
