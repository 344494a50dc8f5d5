package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SplittableRandomSource;

/** The outcome of a mutation is true of all its attempts together, whatever their fates. */
final class RequestAttemptsTest {
    /** The fate of one attempt. */
    enum Fate {
        /** It does not arrive, and the client receives no reply. */
        LOST_REQUEST,
        /** It is applied, or was before, and the client receives no reply. */
        LOST_REPLY,
        /** It is refused before the duplicate check. */
        REFUSED,
        /** It is refused unless an earlier attempt was applied. */
        REFUSED_IF_NEW
    }

    /** @param status of a refusal */
    record Attempt(Fate fate, Status status) {}

    /** Statuses that precede the duplicate check. */
    private static final List<Status> BEFORE_THE_LOOK = List.of(
            Status.SESSION_EXPIRED,
            Status.UNKNOWN_CACHE,
            Status.CLOSED,
            Status.NOT_PRIMARY,
            Status.STALE_TERM,
            Status.UNREACHABLE,
            Status.UNDER_REPLICATED);
    /** Statuses that follow the duplicate check. */
    private static final List<Status> BEHIND_THE_LOOK = List.of(
            Status.FULL,
            Status.TOO_LARGE,
            Status.CORRUPTED,
            Status.BAD_REQUEST,
            Status.NO_VERSION,
            Status.IN_PARTS,
            Status.PARTS_MISSING);

    private static final byte[] KEY = {1};
    private static final long DEADLINE_NS = 10_000_000_000L;

    /** Advances by itself, so that pauses end soon. */
    private static final class HurryingClock implements Clock {
        private final AtomicLong ns = new AtomicLong();

        @Override
        public long nanoTime() {
            return ns.addAndGet(100_000);
        }

        @Override
        public long wallMs() {
            return 1;
        }
    }

    private final HurryingClock clock = new HurryingClock();
    private final ModelSession session = new ModelSession(clock, 1);
    private final RowanClient client = new RowanClient(session, clock, new SplittableRandomSource(1), DEADLINE_NS);
    private final int cache = client.catalogue().create("cache", new byte[0]).id();

    private static Attempt attempt(int number) {
        final Fate fate = Fate.values()[number & 3];
        final List<Status> statuses = fate == Fate.REFUSED ? BEFORE_THE_LOOK : BEHIND_THE_LOOK;
        return new Attempt(fate, statuses.get((number >> 2) % statuses.size()));
    }

    /** Applies the plan to attempts of mutations, by key; attempts after the plan succeed. */
    private final class Plan implements ModelSession.Interceptor {
        private final Queue<Attempt> attempts = new ArrayDeque<>();
        /** The last one ends at the deadline: its status is final. */
        private boolean isLastLate;

        private boolean isApplied;
        private boolean losesReply;
        private boolean anyLost;

        @Override
        public Status refuse(Request request) {
            losesReply = false;
            if (request.operation() != Operation.PUT) {
                return Status.OK;
            }
            final Attempt next = attempts.poll();
            if (isLastLate && next != null && attempts.isEmpty()) {
                clock.ns.addAndGet(DEADLINE_NS);
            }
            final Fate fate = next == null ? null : next.fate();
            if (next == null || fate == Fate.REFUSED_IF_NEW && isApplied) {
                isApplied = true;
                return Status.OK;
            }
            switch (fate) {
                case LOST_REQUEST -> {
                    anyLost = true;
                    return Status.NO_REPLY;
                }
                case LOST_REPLY -> {
                    anyLost = true;
                    isApplied = true;
                    losesReply = true;
                    return Status.OK;
                }
                default -> {
                    return next.status();
                }
            }
        }

        @Override
        public boolean losesReply(Request request) {
            return losesReply;
        }
    }

    private Request carryOut(int way) {
        final Request put = new Request().put(cache, KEY, 0, 1, KEY, 0, 1);
        switch (way) {
            case 0 -> client.execute(put);
            case 1 -> client.executeAll(List.of(put));
            default ->
                assertThat(client.executeAsync(put).toCompletableFuture())
                        .succeedsWithin(Duration.ofSeconds(60))
                        .isSameAs(put);
        }
        return put;
    }

    private long version() {
        session.interceptWith(new ModelSession.Interceptor() {});
        return client.getVersioned(cache, KEY).version();
    }

    @Property(tries = 3_000)
    void shouldSayOfAMutationWhatIsTrueOfAllItsAttempts(
            @ForAll @Size(max = 5) List<@IntRange(max = 4 * 30 - 1) Integer> numbers,
            @ForAll boolean isLastLate,
            @ForAll @IntRange(max = 2) int way) {
        client.put(cache, KEY, KEY);
        final long before = version();
        final Plan plan = new Plan();
        plan.isLastLate = isLastLate;
        numbers.forEach(number -> plan.attempts.add(attempt(number)));
        session.interceptWith(plan);
        final Status status = carryOut(way).status();
        final long after = version();
        if (status == Status.OK) {
            assertThat(after).as("once").isEqualTo(Version.next(before));
        } else if (status == Status.OUTCOME_UNKNOWN) {
            assertThat(after).as("at most once").isIn(before, Version.next(before));
            assertThat(plan.anyLost).as("whether anything was lost").isTrue();
        } else {
            assertThat(after).as("not at all").isEqualTo(before);
        }
        assertThat(carryOut(way).status()).as("the next one").isEqualTo(Status.OK);
        assertThat(version()).isEqualTo(Version.next(after));
    }

    /** A server remembers under its id that it refused a mutation, and answers so again. */
    @Example
    void shouldTakeAnotherIdBehindAnAnswerThatServersRemember() {
        assertThat(idsBehind(Status.NO_VERSION)).hasSize(2).doesNotHaveDuplicates();
        assertThat(Set.copyOf(idsBehind(Status.UNDER_REPLICATED))).hasSize(1);
    }

    /** The sequences of a mutation that is answered so at first. */
    private List<Long> idsBehind(Status first) {
        final List<Long> sequences = new ArrayList<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                if (request.operation() != Operation.PUT) {
                    return Status.OK;
                }
                sequences.add(request.sequence());
                return sequences.size() == 1 ? first : Status.OK;
            }
        });
        assertThat(carryOut(0).status()).isEqualTo(Status.OK);
        return sequences;
    }

    /** Every status is in one of the lists above. */
    @Example
    void shouldKnowWhenEachStatusIsGiven() {
        final Set<Status> all = EnumSet.of(
                Status.OK, Status.NOT_FOUND, Status.CONDITION_FAILED, Status.NO_REPLY, Status.OUTCOME_UNKNOWN);
        all.addAll(BEFORE_THE_LOOK);
        all.addAll(BEHIND_THE_LOOK);
        assertThat(all).containsExactlyInAnyOrder(Status.values());
    }
}
