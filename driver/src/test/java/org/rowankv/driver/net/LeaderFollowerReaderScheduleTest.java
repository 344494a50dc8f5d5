package org.rowankv.driver.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ScheduleExplorer;
import org.rowankv.runtime.TestScale;

/**
 * Hand-over of the leader role under every schedule with a bounded number of preemptions: no caller whose response has
 * arrived, or arrives with the next read, stays parked, in whatever order callers leave and responses arrive.
 */
final class LeaderFollowerReaderScheduleTest {
    private static final long DEADLINE_NS = 1_000;
    private static final int PREEMPTIONS = TestScale.of(2, 3);

    /**
     * Callers of one connection. Responses arrive in a given order; a caller reads them one by one until it has its
     * own.
     */
    private static final class Callers implements ScheduleExplorer.Scenario, LeaderFollowerReader.Reader, Clock {
        private final InFlightRequest[] exchanges;
        private final LeaderFollowerReader role;
        private final Deque<Integer> arriving = new ArrayDeque<>();
        /** Callers that give up at the first opportunity, and whose responses never arrive. */
        private final Set<Integer> impatient;

        private final boolean[] looked;
        /** Callers from this one on never read. */
        private final int firstThatNeverReads;

        Callers(ScheduleExplorer explorer, String order, Set<Integer> impatient) {
            this(explorer, order, impatient, order.length());
        }

        Callers(ScheduleExplorer explorer, String order, Set<Integer> impatient, int firstThatNeverReads) {
            this.firstThatNeverReads = firstThatNeverReads;
            this.exchanges = new InFlightRequest[order.length()];
            this.looked = new boolean[exchanges.length];
            this.impatient = impatient;
            for (int i = 0; i < exchanges.length; i++) {
                exchanges[i] = new InFlightRequest(i);
                exchanges[i].begin(0, 0, 0, DEADLINE_NS);
                exchanges[i].state(InFlightRequest.SENT);
                final int next = order.charAt(i) - '0';
                if (!impatient.contains(next)) {
                    arriving.add(next);
                }
            }
            this.role = new LeaderFollowerReader(exchanges, explorer, this, this);
        }

        private int indexOfCurrent() {
            return Integer.parseInt(Thread.currentThread().getName().replace("explored ", ""));
        }

        @Override
        public List<Runnable> threads() {
            final List<Runnable> threads = new ArrayList<>();
            for (InFlightRequest each : exchanges) {
                threads.add(
                        each.slot() < firstThatNeverReads
                                ? () -> role.await(each, 0)
                                : () -> role.awaitAsFollower(each));
            }
            return threads;
        }

        @Override
        public boolean mayTimeOut(int thread) {
            return impatient.contains(thread);
        }

        /** An impatient caller checks once, then its deadline is over. */
        @Override
        public long nanoTime() {
            final int index = indexOfCurrent();
            final boolean again = looked[index];
            looked[index] = true;
            return again && impatient.contains(index) ? DEADLINE_NS : 0;
        }

        @Override
        public long wallMs() {
            return 0;
        }

        @Override
        public boolean read(InFlightRequest own, boolean spins) {
            if (impatient.contains(own.slot())) {
                Chaos.point("model.timed-out");
                return false;
            }
            while (!own.isDone()) {
                Chaos.point("model.read");
                final InFlightRequest answered = exchanges[arriving.remove()];
                if (!answered.changes(InFlightRequest.SENT, InFlightRequest.ANSWERING)) {
                    throw new AssertionError("answered twice");
                }
                role.wake(answered.done(InFlightRequest.Outcome.ANSWERED));
            }
            return false;
        }

        @Override
        public void check() {
            for (InFlightRequest each : exchanges) {
                assertThat(each.isDone()).as("caller %d", each.slot()).isEqualTo(!impatient.contains(each.slot()));
            }
            assertThat(arriving).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"01", "10", "012", "021", "102", "120", "201", "210"})
    void shouldLoseNoWakeUpInWhateverOrderAnswersCome(String order) {
        try (ScheduleExplorer explorer = new ScheduleExplorer(PREEMPTIONS)) {
            assertThat(explorer.explore(() -> new Callers(explorer, order, Set.of())))
                    .isGreaterThan(20);
        }
    }

    @ParameterizedTest
    @CsvSource({"012,0", "012,1", "021,2", "102,1", "120,0", "201,2", "210,1"})
    void shouldLoseNoWakeUpWhenACallerGivesUpReadingOrNot(String order, int impatient) {
        try (ScheduleExplorer explorer = new ScheduleExplorer(PREEMPTIONS)) {
            assertThat(explorer.explore(() -> new Callers(explorer, order, Set.of(impatient))))
                    .isGreaterThan(20);
        }
    }

    /** Virtual threads do not read: the first caller stands in for their reader, and completes when they do. */
    @ParameterizedTest
    @CsvSource({"10,1", "120,1", "210,1", "120,2", "210,2"})
    void shouldLoseNoWakeUpOfCallersThatNeverRead(String order, int firstThatNeverReads) {
        try (ScheduleExplorer explorer = new ScheduleExplorer(PREEMPTIONS)) {
            assertThat(explorer.explore(() -> new Callers(explorer, order, Set.of(), firstThatNeverReads)))
                    .isGreaterThan(10);
        }
    }
}
