package org.rowankv.daemon;

import java.io.IOException;
import java.io.InputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends this process after its parent has ended, by whatever signal. If enabled, standard input is a pipe whose other
 * end the parent holds, so it closes with the parent. A server drains then, as after SIGTERM.
 *
 * <p>Not guaranteed if the parent passes its end of the pipe to another process.
 */
public final class ParentWatch {
    /** System property of a process that is to end with its parent; {@code true}. */
    public static final String PROPERTY = "rowan.process.ends-with-parent";

    private static final int EXIT_LEFT_ALONE = 1;

    private ParentWatch() {}

    /** Starts the watch, if this process was started so. */
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
                // The parent sends nothing; only the end of the stream counts.
            }
            log.info("parent process ended: this process ends too");
        } catch (IOException e) {
            log.info("pipe from the parent process broken: this process ends", e);
        }
        System.exit(EXIT_LEFT_ALONE);
    }
}
