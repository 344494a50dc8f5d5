package org.rowankv.check.verify;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;

/**
 * A session over a lossy network: loses requests and replies, delivers them twice, at once or late. It keeps the
 * session contract: any result but NO_REPLY is a reply of the session below to this operation.
 *
 * <p>Thread-safe. {@link #awaitQuiet} waits until no message is in flight.
 */
final class DroppingSession implements ForwardingSession {
    private static final int STRIPES = 32;

    private record OperationId(long session, long sequence) {}

    private final Session below;
    private final Tally tally;
    private final int faultsPerMille;
    private final RandomSource[] dice = new RandomSource[STRIPES];
    private final Set<OperationId> doomed = ConcurrentHashMap.newKeySet();
    private final AtomicInteger underWay = new AtomicInteger();
    private final ScheduledExecutorService network;

    DroppingSession(Session below, RandomSource random, Tally tally, int faultsPerMille) {
        this.below = below;
        this.tally = tally;
        this.faultsPerMille = faultsPerMille;
        for (int i = 0; i < STRIPES; i++) {
            dice[i] = random.fork("dice " + i);
        }
        this.network = Executors.newScheduledThreadPool(2, work -> {
            final Thread thread = new Thread(work, "verify-network");
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public Session below() {
        return below;
    }

    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public void call(Request request) {
        final OperationId id = new OperationId(request.sessionId(), request.sequence());
        final boolean mutation = request.operation().isMutation();
        if (mutation && doomed.contains(id)) {
            if (roll(2) == 0) {
                below.call(request);
            }
            lose(request);
            return;
        }
        if (roll(1000) >= faultsPerMille) {
            below.call(request);
            return;
        }
        final DeliveryFault fault = DeliveryFault.values()[roll(DeliveryFault.values().length)];
        if (fault == DeliveryFault.NO_REPLY_EVER) {
            // Rare, because each costs its caller the whole deadline; a read without a reply yields no information.
            if (!mutation || roll(8) > 0) {
                below.call(request);
                return;
            }
            doomed.add(id);
        }
        tally.count("fault." + fault.label());
        suffer(fault, request);
    }

    private void suffer(DeliveryFault fault, Request request) {
        switch (fault) {
            case DROP_REQUEST -> lose(request);
            case DROP_REPLY, NO_REPLY_EVER -> {
                below.call(request);
                lose(request);
            }
            case TWICE -> {
                below.call(request);
                below.call(request);
            }
            case TWICE_AT_ONCE -> {
                deliverLater(RequestCopy.of(request), 0);
                below.call(request);
            }
            case LATE_COPY -> {
                deliverLater(RequestCopy.of(request), 1 + roll(20_000));
                below.call(request);
            }
            case OVERTAKEN -> {
                deliverLater(RequestCopy.of(request), 1 + roll(3_000));
                lose(request);
            }
        }
    }

    private static void lose(Request request) {
        request.clearAnswer();
        request.answer(Status.NO_REPLY, 0, 0, 0);
    }

    private void deliverLater(Request copy, int delayMicros) {
        underWay.incrementAndGet();
        final var unused = network.schedule(
                () -> {
                    try {
                        below.call(copy);
                        tally.count("late." + copy.status());
                    } catch (RuntimeException | Error failure) {
                        tally.count("late.failed: " + failure);
                    } finally {
                        underWay.decrementAndGet();
                    }
                },
                delayMicros,
                TimeUnit.MICROSECONDS);
    }

    private int roll(int sides) {
        final RandomSource die = dice[(int) Thread.currentThread().getId() & STRIPES - 1];
        synchronized (die) {
            return die.nextInt(sides);
        }
    }

    /** Returns when every attempt has arrived. Precondition: callers pause. */
    void awaitQuiet() {
        while (underWay.get() > 0) {
            java.util.concurrent.locks.LockSupport.parkNanos(100_000);
        }
        doomed.clear();
    }

    /** Ends the network; the owner of the session below closes that session. */
    @Override
    public void close() {
        network.shutdown();
    }
}
