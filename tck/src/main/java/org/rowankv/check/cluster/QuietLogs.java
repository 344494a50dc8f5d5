package org.rowankv.check.cluster;

/** What a command itself has to say is not to be lost among what its libraries log. */
public final class QuietLogs {
    private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private QuietLogs() {}

    /** Before anything logs: from now on only warnings, unless the user has asked for more. */
    public static void setUp() {
        if (System.getProperty(LEVEL) == null) {
            System.setProperty(LEVEL, "warn");
        }
    }
}
