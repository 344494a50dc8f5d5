package org.rowankv.check.client;

/** Log levels of commands, so that library logs do not hide the command's own output. */
public final class QuietLogs {
    private static final String LEVEL = "rowan.log.level";

    private QuietLogs() {}

    /** Limits logging to warnings, unless the user has set a level. Must precede the first log line. */
    public static void setUp() {
        setUp("warn");
    }

    /**
     * As {@link #setUp()}, for a command that provokes warnings: turns logging off, unless the user has set a level.
     */
    public static void setUpForFaults() {
        setUp("off");
    }

    private static void setUp(String level) {
        if (System.getProperty(LEVEL) == null) {
            System.setProperty(LEVEL, level);
        }
    }
}
