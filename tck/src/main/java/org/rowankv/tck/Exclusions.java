package org.rowankv.tck;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Log handler that detects tests excluded by the TCK. The TCK lets an excluded test pass without running it, and only
 * its log says so. While this handler is open, that log goes nowhere else: the rest of it concerns the TCK's own
 * servers.
 */
final class Exclusions extends Handler {
    private static final String LEFT_OUT = "===== EXCLUDING TEST ";

    /** Parent of every logger of the TCK; held strongly, because the log manager drops unreferenced loggers. */
    private final Logger logger = Logger.getLogger("org.jsr107.tck");

    private final Runnable onExclusion;
    private final Level levelBefore;
    private final boolean parentBefore;

    /** @param onExclusion called on the test's thread, between the test's start and end */
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
