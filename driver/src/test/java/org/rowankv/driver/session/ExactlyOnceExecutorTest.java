package org.rowankv.driver.session;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

class ExactlyOnceExecutorTest {
    /** Longer than the pauses between a few attempts. */
    private static final long DEADLINE_NS = 100_000_000;

    private static final byte[] KEY = "key".getBytes(UTF_8);
    private static final byte[] VALUE = "value".getBytes(UTF_8);

    private final ManualClock clock = new ManualClock();
    private final ModelSession session = new ModelSession(clock);
    private final RowanClient client = new RowanClient(session, clock, new SplittableRandomSource(1), DEADLINE_NS);
    private final int cache = client.catalogue().create("cache", new byte[0]).id();
    private final Request request = new Request();

    private Request put() {
        return request.put(cache, KEY, 0, KEY.length, VALUE, 0, VALUE.length);
    }

    /** Loses the first replies to mutations of keys. */
    private void loseReplies(int count) {
        final AtomicInteger left = new AtomicInteger(count);
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                return attempt.operation() == Operation.PUT && left.getAndDecrement() > 0;
            }
        });
    }

    @Test
    void shouldApplyOnceWhateverIsLost() {
        loseReplies(5);
        client.execute(put().when(Condition.IF_ABSENT));
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(request.bits()).isEqualTo(ResultBits.CREATED | ResultBits.REPLAYED);
        client.execute(put());
        assertThat(request.bits()).isEqualTo(ResultBits.EXISTED | ResultBits.UPDATED);
    }

    @Test
    void shouldDrawNoIdsWhereNoReplyIsLost() {
        final RowanClient direct =
                new RowanClient(new ModelSession(clock).promiseReplies(), clock, new SplittableRandomSource(1));
        direct.catalogue().create("cache", new byte[0]);
        direct.execute(put());
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(request.sessionId()).isZero();
        assertThat(request.sequence()).isZero();
    }

    @Test
    void shouldSayThatTheOutcomeIsUnknownAtTheDeadlineAndGiveUpTheLane() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                return attempt.operation() == Operation.PUT;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        final long lostLane = request.sessionId();
        session.interceptWith(new ModelSession.Interceptor() {});
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(request.sessionId()).isNotEqualTo(lostLane);
    }

    /** The shard keeps neither the session nor its completions. */
    @Test
    void shouldCloseTheSessionItGaveUpWhenTheShardAnswersAgain() {
        client.execute(put());
        final List<Long> closed = new ArrayList<>();
        final AtomicInteger lostClosings = new AtomicInteger(1);
        final AtomicInteger lostPuts = new AtomicInteger(Integer.MAX_VALUE);
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                if (attempt.operation() == Operation.CLOSE_SESSION) {
                    closed.add(attempt.sessionId());
                    return lostClosings.getAndDecrement() > 0;
                }
                return attempt.operation() == Operation.PUT && lostPuts.getAndDecrement() > 0;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        final long lost = request.sessionId();
        assertThat(closed).as("the shard does not answer").isEmpty();
        lostPuts.set(0);
        client.execute(put());
        client.execute(put());
        client.execute(put());
        assertThat(closed).as("until the closing is answered, and no more").containsExactly(lost, lost);
        client.close();
        assertThat(closed).containsExactly(lost, lost, request.sessionId());
    }

    @Test
    void shouldCloseWhatItGaveUpWithTheClient() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                return attempt.operation() == Operation.PUT;
            }
        });
        client.execute(put());
        final long lost = request.sessionId();
        final List<Long> closed = new ArrayList<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempt.operation() == Operation.CLOSE_SESSION) {
                    closed.add(attempt.sessionId());
                }
                return Status.OK;
            }
        });
        client.close();
        assertThat(closed).containsExactly(lost);
    }

    /** Open at the shard, but the caller's thread failed first. */
    @Test
    void shouldCloseWhatACallerWasOpeningWhenAnErrorStruckIt() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                if (attempt.operation() == Operation.OPEN_SESSION) {
                    throw new StackOverflowError("injected");
                }
                return false;
            }
        });
        assertThatThrownBy(() -> client.execute(put())).isInstanceOf(StackOverflowError.class);
        assertThat(closedWithTheClient()).hasSize(1);
    }

    @Test
    void shouldCloseWhatItCouldNotLearnToBeOpen() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                return attempt.operation() == Operation.OPEN_SESSION;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.UNREACHABLE);
        assertThat(closedWithTheClient()).hasSize(1);
    }

    /** With another id each time, a busy shard would open sessions without end, each too late for its caller. */
    @Test
    void shouldOfferTheSameIdUntilItsOpeningIsAnswered() {
        final List<Long> offered = new ArrayList<>();
        final AtomicInteger lost = new AtomicInteger(Integer.MAX_VALUE);
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                if (attempt.operation() == Operation.OPEN_SESSION) {
                    offered.add(attempt.sessionId());
                    return lost.getAndDecrement() > 0;
                }
                return false;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.UNREACHABLE);
        final long unknown = offered.get(offered.size() - 1);
        offered.clear();
        lost.set(0);
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(offered).containsExactly(unknown);
        assertThat(request.sessionId()).isEqualTo(unknown);
    }

    @Test
    void shouldNotCloseWhatTheShardRefusedToOpen() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                return attempt.operation() == Operation.OPEN_SESSION ? Status.FULL : Status.OK;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.FULL);
        assertThat(closedWithTheClient()).isEmpty();
    }

    private List<Long> closedWithTheClient() {
        final List<Long> closed = new ArrayList<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempt.operation() == Operation.CLOSE_SESSION) {
                    closed.add(attempt.sessionId());
                }
                return Status.OK;
            }
        });
        client.close();
        return closed;
    }

    /** A sequence implies that all smaller ones are answered: after an unanswered one the session assigns none. */
    @Test
    void shouldGiveUpTheSessionOfAMutationThatAnErrorEnded() {
        final ExactlyOnceExecutor ids = new ExactlyOnceExecutor(
                session, clock, new SplittableRandomSource(1), DEADLINE_NS, 1, CounterStarts.USUAL);
        ids.execute(placed(put()));
        final long first = request.sessionId();
        ids.execute(placed(put()));
        assertThat(request.sessionId()).as("of the only session").isEqualTo(first);
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                if (attempt.operation() == Operation.PUT) {
                    throw new StackOverflowError("injected");
                }
                return false;
            }
        });
        assertThatThrownBy(() -> ids.execute(placed(put()))).isInstanceOf(StackOverflowError.class);
        session.interceptWith(new ModelSession.Interceptor() {});
        ids.execute(placed(put()));
        final long second = request.sessionId();
        assertThat(second).isNotEqualTo(first);

        final RequestAttempts stepped = ids.attempts(placed(put()));
        assertThat(stepped.next().sessionId()).isEqualTo(second);
        stepped.abandon();
        ids.execute(placed(put()));
        assertThat(request.sessionId()).isNotIn(first, second);
    }

    /** As when callers of an unresponsive server hold all sessions. */
    @Test
    void shouldCarryOutABulkOnSpareLanes() {
        final ExactlyOnceExecutor ids = new ExactlyOnceExecutor(
                session, SystemClock.INSTANCE, new SplittableRandomSource(1), 1_000_000_000, 1, CounterStarts.USUAL);
        final RequestAttempts holder = ids.attempts(placed(put()));
        final List<Request> puts = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            puts.add(placed(new Request().put(cache, new byte[] {(byte) (i >> 8), (byte) i}, 0, 2, VALUE, 0, 5)));
        }
        ids.executeAll(puts);
        assertThat(puts).extracting(Request::status).containsOnly(Status.OK);
        holder.abandon();
    }

    private static Request placed(Request request) {
        request.placed(1, 0);
        return request;
    }

    @Test
    void shouldTellAReadWithoutReplyFromAnUnknownOutcome() {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                clock.advanceNs(DEADLINE_NS / 10);
                return true;
            }
        });
        client.execute(request.get(cache, KEY, 0, KEY.length));
        assertThat(request.status()).isEqualTo(Status.NO_REPLY);
        client.execute(put());
        assertThat(request.status())
                .as("opening the session got no reply: the put itself was never sent")
                .isEqualTo(Status.UNREACHABLE);
    }

    /** The last attempt of an operation may begin after the deadline, and is not sent. */
    @Test
    void shouldSayThatAReadHadNoReplyWhateverItsLastAttemptMet() {
        final AtomicInteger attempts = new AtomicInteger();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempts.incrementAndGet() == 1) {
                    return Status.OK;
                }
                clock.advanceNs(DEADLINE_NS);
                return Status.UNREACHABLE;
            }

            @Override
            public boolean losesReply(Request attempt) {
                return true;
            }
        });
        client.execute(request.get(cache, KEY, 0, KEY.length));
        assertThat(attempts.get()).isEqualTo(2);
        assertThat(request.status()).isEqualTo(Status.NO_REPLY);
    }

    @Test
    void shouldOpenAnotherSessionWhenTheFirstAttemptFindsItExpired() {
        client.execute(put());
        final long first = request.sessionId();
        session.call(new Request().closeSession(request.shard(), first));
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(request.sessionId()).isNotEqualTo(first);
    }

    @Test
    void shouldDrawAnotherIdWhenASessionOfThatIdWasClosedBefore() {
        final Set<Long> refused = new TreeSet<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                final boolean refuses = attempt.operation() == Operation.OPEN_SESSION && refused.size() < 3;
                if (refuses) {
                    refused.add(attempt.sessionId());
                }
                return refuses ? Status.SESSION_EXPIRED : Status.OK;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(refused).hasSize(3).doesNotContain(request.sessionId());
    }

    @Test
    void shouldNotApplyTwiceWhenTheSessionExpiresBetweenTwoAttempts() {
        client.execute(put());
        final long version = request.version();
        final AtomicInteger attempts = new AtomicInteger();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public boolean losesReply(Request attempt) {
                if (attempt.operation() == Operation.PUT && attempts.getAndIncrement() == 0) {
                    session.call(new Request().closeSession(attempt.shard(), attempt.sessionId()));
                    return true;
                }
                return false;
            }
        });
        client.execute(put());
        assertThat(request.status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        assertThat(client.getVersioned(cache, KEY).version()).isEqualTo(Version.next(version));
    }

    @Test
    void shouldNumberALanesMutationsWithoutGaps() {
        final List<Long> sequences = new ArrayList<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempt.operation() == Operation.PUT) {
                    sequences.add(attempt.sequence());
                }
                return Status.OK;
            }
        });
        for (int i = 0; i < 5; i++) {
            client.execute(put());
        }
        assertThat(sequences).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(request.unanswered()).isZero();
    }

    @Test
    void shouldCloseItsSessionsAtTheShards() {
        client.execute(put());
        final Set<Long> closed = new TreeSet<>();
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempt.operation() == Operation.CLOSE_SESSION) {
                    closed.add(attempt.sessionId());
                }
                return Status.OK;
            }
        });
        client.close();
        assertThat(closed).containsExactly(request.sessionId());
    }

    @Test
    void shouldGiveEachConcurrentMutationALaneOfItsOwn() throws InterruptedException {
        final ModelSession shared = new ModelSession(SystemClock.INSTANCE);
        final RowanClient many = new RowanClient(shared, SystemClock.INSTANCE, new SplittableRandomSource(2));
        final int id = many.catalogue().create("cache", new byte[0]).id();
        final Set<Long> busy = ConcurrentHashMap.newKeySet();
        final AtomicLong clashes = new AtomicLong();
        shared.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request attempt) {
                if (attempt.operation() == Operation.PUT && !busy.add(attempt.sessionId())) {
                    clashes.incrementAndGet();
                }
                return Status.OK;
            }

            @Override
            public boolean losesReply(Request attempt) {
                busy.remove(attempt.sessionId());
                return false;
            }
        });
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            final byte[] key = {(byte) i};
            final Thread thread = new Thread(() -> {
                for (int n = 0; n < 5_000; n++) {
                    many.put(id, key, VALUE);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(clashes).hasValue(0);
        many.close();
    }
}
