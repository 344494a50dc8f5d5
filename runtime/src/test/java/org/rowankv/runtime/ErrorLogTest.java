package org.rowankv.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ErrorLog.Observation;

/** Nothing is lost, and memory stays bounded. */
final class ErrorLogTest {
    private final ManualClock clock = new ManualClock(0, 1000);
    private final ErrorLog log = new ErrorLog(clock);

    private static RuntimeException failure(String message) {
        return new IllegalStateException(message);
    }

    @Test
    void shouldCountTheSameFailureOnce() {
        for (int i = 0; i < 25; i++) {
            log.report("digest", failure("entry " + i));
            clock.advanceMs(10);
        }
        log.report("clean", failure("x"));
        assertThat(log.count()).isEqualTo(26);
        final List<Observation> distinct = log.distinct();
        assertThat(distinct).hasSize(2);
        assertThat(distinct.get(0))
                .isEqualTo(new Observation(
                        "digest", "java.lang.IllegalStateException", "entry 0", 25, 1000, 1000 + 24 * 10));
    }

    @Test
    void shouldTellFailuresApartByWhereTheyComeFrom() {
        final RuntimeException wrapped = new IllegalStateException("a", failure("b"));
        log.report("digest", failure("a"));
        log.report("digest", failure("a"));
        log.report("digest", wrapped);
        log.report("digest", new IllegalArgumentException("a"));
        assertThat(log.distinct()).hasSize(4);
    }

    @Test
    void shouldCountOnWhenThereAreTooManyKinds() {
        for (int i = 0; i < ErrorLog.MAX_DISTINCT + 50; i++) {
            log.report("agent " + i, failure("x"));
        }
        assertThat(log.count()).isEqualTo(ErrorLog.MAX_DISTINCT + 50);
        final List<Observation> distinct = log.distinct();
        assertThat(distinct).hasSize(ErrorLog.MAX_DISTINCT + 1);
        assertThat(distinct.get(ErrorLog.MAX_DISTINCT).count()).isEqualTo(50);
        assertThat(distinct.stream().mapToLong(Observation::count).sum()).isEqualTo(log.count());
    }

    private static List<String> logged(Runnable during) {
        final PrintStream before = System.err;
        final ByteArrayOutputStream heard = new ByteArrayOutputStream();
        System.setErr(new PrintStream(heard, true, StandardCharsets.UTF_8));
        try {
            during.run();
        } finally {
            System.setErr(before);
        }
        return heard.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** A process that has run for a year has met most failures before: the next incident is logged all the same. */
    @Test
    void shouldLogAFailureAgainAfterAnHourWithoutOne() {
        final RuntimeException full = failure("the disk is full");
        for (int i = 0; i < 101; i++) {
            log.reportExpected("writing", full);
        }
        clock.advanceMs(3_599_999);
        assertThat(logged(() -> log.reportExpected("writing", full))).isEmpty();
        clock.advanceMs(3_600_000);
        assertThat(logged(() -> log.reportExpected("writing", full)))
                .singleElement()
                .asString()
                .contains("writing failed, 103 times so far");
    }

    /** After a year there may be as many distinct failures as are kept. What ends the service has its stack all the same. */
    @Test
    void shouldLogWhyAnAgentStoppedHoweverManyFailuresThereWere() {
        for (int i = 0; i < ErrorLog.MAX_DISTINCT + 50; i++) {
            log.report("agent " + i, failure("x"));
        }
        final List<String> lines = logged(() -> {
            log.broken("clean", new AssertionError("a segment is free twice"));
            log.broken("digest", new AssertionError("an entry was skipped"));
        });
        assertThat(lines.get(0)).contains("ROWAN-5003 clean (stopped by a broken invariant) failed");
        assertThat(lines)
                .anyMatch(line -> line.contains("AssertionError: a segment is free twice"))
                .anyMatch(line -> line.contains("AssertionError: an entry was skipped"))
                .anyMatch(line -> line.contains("at org.rowankv.runtime.ErrorLogTest"));
        assertThat(log.distinct()).hasSize(ErrorLog.MAX_DISTINCT + 1);
    }

    enum Fault {
        GARBAGE,
        SILENCE
    }

    @Test
    void shouldLogAFaultAgainAfterAnHourWithoutOne() {
        final FaultLog<Fault> faults = new FaultLog<>(Fault.class, clock);
        assertThat(logged(() -> {
                    for (int i = 0; i < 101; i++) {
                        faults.report(Fault.GARBAGE, "10.0.0.7", "no frame");
                    }
                }))
                .hasSize(3);
        clock.advanceMs(3_599_999);
        assertThat(logged(() -> faults.report(Fault.GARBAGE, "10.0.0.7", "no frame")))
                .isEmpty();
        assertThat(logged(() -> faults.report(Fault.SILENCE, "10.0.0.7", "no bytes")))
                .hasSize(1);
        clock.advanceMs(3_600_000);
        assertThat(logged(() -> faults.report(Fault.GARBAGE, "10.0.0.7", "no frame")))
                .singleElement()
                .asString()
                .contains("103 such so far");
        assertThat(faults.count(Fault.GARBAGE)).isEqualTo(103);
    }

    /** An expected failure takes one line; an unexpected one has a stack. */
    @Test
    void shouldLogNoStackOfWhatIsExpected() {
        final List<String> lines = logged(() -> {
            log.reportExpected("connecting to server 1", failure("it is not open"));
            log.report("digest", failure("broken"));
        });
        assertThat(lines.get(0)).contains("WARN").endsWith("connecting to server 1 failed: it is not open");
        assertThat(lines.get(1)).contains("ERROR", "digest failed");
        assertThat(lines.get(2)).contains("IllegalStateException: broken");
        assertThat(log.count()).isEqualTo(2);
        assertThat(log.distinct()).hasSize(2);
    }
}
