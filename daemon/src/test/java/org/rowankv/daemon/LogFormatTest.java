package org.rowankv.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import org.junit.jupiter.api.Test;

/** Output of one log event under the shipped configuration. */
final class LogFormatTest {
    private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\S+ ";

    private static LoggerContext context(String format, String level) throws JoranException {
        final LoggerContext context = new LoggerContext();
        context.setMDCAdapter(new LogbackMDCAdapter());
        context.putProperty("rowan.log.format", format);
        context.putProperty("rowan.log.level", level);
        final JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(LogFormatTest.class.getResource("/logback.xml"));
        return context;
    }

    private static String written(String format) throws JoranException {
        final LoggerContext context = context(format, "info");
        final Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        final ConsoleAppender<ILoggingEvent> appender = (ConsoleAppender<ILoggingEvent>) root.getAppender("stderr");
        assertThat(appender.getTarget()).isEqualTo("System.err");
        final Logger logger = context.getLogger(ServerCommand.class);
        final LoggingEvent event =
                new LoggingEvent("", logger, Level.WARN, "server {} waits for \"b\"", null, new Object[] {"a"});
        return new String(appender.getEncoder().encode(event), UTF_8);
    }

    @Test
    void shouldWriteTimeLevelAndEventOnALine() throws JoranException {
        assertThat(written("line")).matches(TIME + "WARN  server a waits for \"b\"\\R");
    }

    @Test
    void shouldAddThreadAndClassWhenVerbose() throws JoranException {
        assertThat(written("verbose")).matches(TIME + "WARN  \\[\\S+] ServerCommand server a waits for \"b\"\\R");
    }

    @Test
    void shouldWriteAnObjectOfJsonOnALine() throws JoranException {
        assertThat(written("json").strip())
                .startsWith("{")
                .endsWith("}")
                .doesNotContain("\n")
                .contains(
                        "\"level\":\"WARN\"", "\"formattedMessage\":\"server a waits for \\\"b\\\"\"", "\"timestamp\"");
    }

    /**
     * While ZooKeeper is unreachable the server logs one line of its own; Curator would log each call with its stack
     * trace.
     */
    @Test
    void shouldSilenceTheClientOfZooKeeper() throws JoranException {
        final LoggerContext context = context("line", "debug");
        assertThat(context.getLogger("org.apache.curator.ConnectionState").isErrorEnabled())
                .isFalse();
        assertThat(context.getLogger("org.apache.zookeeper.ClientCnxn").isWarnEnabled())
                .isFalse();
        assertThat(context.getLogger("org.rowankv").isDebugEnabled()).isTrue();
    }
}
