package org.rowankv.tools;

import java.util.concurrent.Callable;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.configstore.ConfigurationStoreException;
import picocli.CommandLine;

/**
 * How commands end that look at a closed store: 0 when all is well, 1 when something is wrong in the store, 2 when it
 * could not be looked at or the call was wrong.
 */
public final class StoreCommand {
    public static final int WELL = 0;
    public static final int WRONG = 1;
    public static final int REFUSED = 2;

    private StoreCommand() {}

    /** What runs a command; a refusal is one line on the standard error, without a stack. */
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
