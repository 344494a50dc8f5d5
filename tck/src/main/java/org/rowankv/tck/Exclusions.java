package org.rowankv.tck;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Hears of the tests that the TCK leaves out. It replaces them by nothing and lets them pass, and its log is the only
 * place that says so. While this is open that log goes nowhere else: the rest of it is about servers of the TCK's own.
 */
final class Exclusions extends Handler {
    private static final String LEFT_OUT = "===== EXCLUDING TEST ";

    /** Above every logger of the TCK; held, because the log manager forgets loggers that nobody holds. */
    private final Logger logger = Logger.getLogger("org.jsr107.tck");

    private final Runnable onExclusion;
    private final Level levelBefore;
    private final boolean parentBefore;

    /** @param onExclusion called by the test's thread, between the test's start and its end */
    Exclusions(Runnable onExclusion) {
        this.onExclusion = onExclusion;
        this.levelBefore = logger.getLevel();
        this.parentBefore = logger.getUseParentHandlers();
        logger.setLevel(Level.INFO);
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    @Override
    public void publish(LogRecord record) {
        if (record.getMessage().startsWith(LEFT_OUT)) {
            onExclusion.run();
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(parentBefore);
        logger.setLevel(levelBefore);
    }
}
