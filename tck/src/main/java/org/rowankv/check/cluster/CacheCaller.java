package org.rowankv.check.cluster;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.cache.Cache;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.MutableEntry;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.check.verify.StampedValue;
import org.rowankv.driver.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;

/**
 * One caller of the cache API: asks random things of random keys, and notes what it was told. Owned by its thread.
 *
 * <p>Times are those of {@link System#nanoTime}; whoever compares those of different JVMs has to see that they mean the same
 * there, see {@link ClientProcess#requireSameClock}.
 */
final class CacheCaller {
    /** Ids of different callers' values never meet. */
    private static final int CALLER_SHIFT = 40;

    private static final ValueAction[] MIX = {
        ValueAction.GET,
        ValueAction.GET,
        ValueAction.GET,
        ValueAction.PUT,
        ValueAction.PUT,
        ValueAction.GET_AND_PUT,
        ValueAction.PUT_IF_ABSENT,
        ValueAction.REPLACE_IF_VALUE,
        ValueAction.REPLACE_IF_VALUE,
        ValueAction.REMOVE,
        ValueAction.GET_AND_REMOVE,
        ValueAction.REMOVE_IF_VALUE,
        ValueAction.INVOKE
    };

    /** An event, and the key that it is of. */
    record Noted(int key, ValueEvent event) {}

    /** What an operation told, apart from who asked and when. */
    private record Answer(Outcome outcome, long observed) {}

    private final int number;
    private final Cache<String, String> cache;
    private final int keys;
    private final RandomSource random;
    /** The value that this caller met last, by key. */
    private final long[] last;

    private final List<Noted> noted = new ArrayList<>();
    private final List<String> exceptions = new ArrayList<>();
    private long values;

    CacheCaller(int number, Cache<String, String> cache, int keys, RandomSource random) {
        this.number = number;
        this.cache = cache;
        this.keys = keys;
        this.random = random;
        this.last = new long[keys];
    }

    static String key(int number) {
        return "key " + number;
    }

    private static String text(long id) {
        return new String(StampedValue.of(id), StandardCharsets.ISO_8859_1);
    }

    /** The id of a value, ABSENT of null, TORN if nobody can have written it. */
    static long idOf(@Nullable String value) {
        if (value == null) {
            return Event.ABSENT;
        }
        final byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
        return StampedValue.idIn(bytes, bytes.length);
    }

    /** What was noted since the last time. */
    List<Noted> takeNoted() {
        final List<Noted> taken = List.copyOf(noted);
        noted.clear();
        return taken;
    }

    /** Exceptions that the application met since the last time, each in a line. */
    List<String> takeExceptions() {
        final List<String> taken = List.copyOf(exceptions);
        exceptions.clear();
        return taken;
    }

    void askOnce() {
        final int key = random.nextInt(keys);
        final ValueAction action = MIX[random.nextInt(MIX.length)];
        final long written = action.stores() ? ((number + 1L) << CALLER_SHIFT) + ++values : Event.ABSENT;
        // Nothing is equal to what is not there: compared is with what somebody wrote.
        final long expected = action.compares()
                ? (last[key] > Event.ABSENT ? last[key] : (number + 1L) << CALLER_SHIFT)
                : Event.ABSENT;
        final long invokedNs = System.nanoTime();
        final Answer answer = ask(action, key(key), written, expected);
        final long returnedNs = System.nanoTime();
        if (answer.outcome() == Outcome.DONE) {
            last[key] = action.stores() ? written : Math.max(Event.ABSENT, answer.observed());
        } else if (answer.outcome() == Outcome.CONDITION_FAILED) {
            last[key] = Event.ABSENT;
        }
        noted.add(new Noted(
                key,
                new ValueEvent(
                        number,
                        action,
                        written,
                        expected,
                        answer.outcome(),
                        answer.observed(),
                        invokedNs,
                        returnedNs)));
    }

    private Answer ask(ValueAction action, String key, long written, long expected) {
        try {
            return switch (action) {
                case GET -> found(cache.get(key));
                case PUT -> {
                    cache.put(key, text(written));
                    yield new Answer(Outcome.DONE, Event.NOT_ASKED);
                }
                case GET_AND_PUT -> done(cache.getAndPut(key, text(written)));
                case PUT_IF_ABSENT -> held(cache.putIfAbsent(key, text(written)));
                case REPLACE_IF_VALUE -> held(cache.replace(key, text(expected), text(written)));
                case REMOVE -> new Answer(cache.remove(key) ? Outcome.DONE : Outcome.NOT_FOUND, Event.NOT_ASKED);
                case GET_AND_REMOVE -> found(cache.getAndRemove(key));
                case REMOVE_IF_VALUE -> held(cache.remove(key, text(expected)));
                case INVOKE -> done(cache.invoke(key, new Swap(text(written))));
            };
        } catch (RuntimeException failure) {
            final Status status = statusOf(failure);
            if (status == Status.OUTCOME_UNKNOWN) {
                return new Answer(Outcome.UNKNOWN, Event.NOT_ASKED);
            }
            exceptions.add(action.label() + ": " + failure);
            // Where the client says that nothing was applied that has to be true; of anything else nobody knows.
            return new Answer(saysNothingApplied(status) ? Outcome.REFUSED : Outcome.UNKNOWN, Event.NOT_ASKED);
        }
    }

    private static Answer found(@Nullable String value) {
        return value == null ? new Answer(Outcome.NOT_FOUND, Event.NOT_ASKED) : done(value);
    }

    private static Answer done(@Nullable String value) {
        return new Answer(Outcome.DONE, idOf(value));
    }

    private static Answer held(boolean condition) {
        return new Answer(condition ? Outcome.DONE : Outcome.CONDITION_FAILED, Event.NOT_ASKED);
    }

    /** Sets the value, and returns the one that was there. */
    private record Swap(String value) implements EntryProcessor<String, String, String> {
        @Override
        public @Nullable String process(MutableEntry<String, String> entry, @Nullable Object... arguments) {
            final String before = entry.getValue();
            entry.setValue(value);
            return before;
        }
    }

    private static @Nullable Status statusOf(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof RowanException rowan) {
                return rowan.status();
            }
        }
        return null;
    }

    private static boolean saysNothingApplied(@Nullable Status status) {
        return status == Status.UNREACHABLE
                || status == Status.NOT_PRIMARY
                || status == Status.STALE_TERM
                || status == Status.CLOSED
                || status == Status.FULL
                || status == Status.NO_VERSION
                || status == Status.NO_REPLY;
    }
}
