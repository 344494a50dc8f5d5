package org.rowankv.check.client;

/** What a command itself has to say is not to be lost among what its libraries log. */
public final class QuietLogs {
    private static final String LEVEL = "rowan.log.level";

    private QuietLogs() {}

    /** Before anything logs: from now on only warnings, unless the user has asked for more. */
    public static void setUp() {
        setUp("warn");
    }

    /** As {@link #setUp()}, for a command that causes what is worth a warning: nothing, unless the user has asked for it. */
    public static void setUpForFaults() {
        setUp("off");
    }

    private static void setUp(String level) {
        if (System.getProperty(LEVEL) == null) {
            System.setProperty(LEVEL, level);
        }
    }
}
