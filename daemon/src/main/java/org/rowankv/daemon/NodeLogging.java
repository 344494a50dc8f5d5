package org.rowankv.daemon;

/** What SLF4J's simple logger does in a process of ours, unless the system properties of its own say otherwise. */
public final class NodeLogging {
    private static final String PREFIX = "org.slf4j.simpleLogger.";

    private NodeLogging() {}

    /** Before the first logger is made. */
    public static void setUp() {
        put("showDateTime", "true");
        put("dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        put("showThreadName", "false");
        put("showShortLogName", "true");
        put("log.org.apache.zookeeper", "error");
        // A ZooKeeper that is away is expected: the server logs one line. Curator logs each call, with its stack.
        put("log.org.apache.curator", "off");
    }

    private static void put(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
