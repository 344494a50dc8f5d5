package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which loggers of libraries a server process silences. */
final class NodeLoggingTest {
    private static final String CURATOR = "org.slf4j.simpleLogger.log.org.apache.curator";

    private @Nullable String before;

    @BeforeEach
    void clear() {
        before = System.clearProperty(CURATOR);
    }

    @AfterEach
    void restore() {
        if (before == null) {
            System.clearProperty(CURATOR);
        } else {
            System.setProperty(CURATOR, before);
        }
    }

    /** A ZooKeeper that is away has one line of the server's, and no stack for each call. */
    @Test
    void shouldSilenceCurator() {
        NodeLogging.setUp();
        assertThat(System.getProperty(CURATOR)).isEqualTo("off");
    }

    @Test
    void shouldLeaveWhatTheCommandLineSays() {
        System.setProperty(CURATOR, "debug");
        NodeLogging.setUp();
        assertThat(System.getProperty(CURATOR)).isEqualTo("debug");
    }
}
