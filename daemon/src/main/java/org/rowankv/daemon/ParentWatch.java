package org.rowankv.daemon;

import java.io.IOException;
import java.io.InputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends this process when the one that started it has ended, by whatever signal: where that was asked for, standard input is a
 * pipe whose other end the starter holds, so it ends with the starter. A server drains then, as after SIGTERM.
 *
 * <p>Not guaranteed where the starter hands its end of the pipe on to another process.
 */
public final class ParentWatch {
    /** System property of a process that is to end with the one that started it; {@code true}. */
    public static final String PROPERTY = "rowan.process.ends-with-parent";

    private static final int EXIT_LEFT_ALONE = 1;

    private ParentWatch() {}

    /** Begins to watch, if this process was started so. */
    public static void beginIfAsked() {
        if (Boolean.getBoolean(PROPERTY)) {
            final Thread thread = new Thread(() -> watch(System.in), "rowan-parent");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void watch(InputStream fromParent) {
        final Logger log = LoggerFactory.getLogger(ParentWatch.class);
        try {
            while (fromParent.read() >= 0) {
                // Nothing is said there; that it is open is all.
            }
            log.info("the process that started this one has ended: this one ends too");
        } catch (IOException e) {
            log.info("the pipe from the process that started this one is broken: this one ends", e);
        }
        System.exit(EXIT_LEFT_ALONE);
    }
}
