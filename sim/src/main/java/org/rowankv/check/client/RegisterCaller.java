package org.rowankv.check.client;

import java.nio.charset.StandardCharsets;
import javax.cache.Cache;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.MutableEntry;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.check.verify.StampedValue;
import org.rowankv.runtime.RandomSource;

/** A caller that performs random operations on registers. Owned by its thread. */
public final class RegisterCaller {
    /** Gives the values of different callers disjoint ids. */
    static final int CALLER_SHIFT = 40;

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

    /** Result of an operation, without caller and times. */
    private record Reply(Outcome outcome, long observed) {}

    private final int caller;
    private final Cache<String, String> cache;
    private final TimedCalls calls;
    private final RandomSource random;
    /** The last value this caller saw, by slot. */
    private final long[] last;

    private long values;

    RegisterCaller(int caller, Cache<String, String> cache, int slots, TimedCalls calls, RandomSource random) {
        this.caller = caller;
        this.cache = cache;
        this.calls = calls;
        this.random = random;
        this.last = new long[slots];
    }

    private static String text(long id) {
        return new String(StampedValue.of(id), StandardCharsets.ISO_8859_1);
    }

    /** The id of a value; ABSENT for null, TORN if no caller writes it. */
    public static long idOf(@Nullable String value) {
        if (value == null) {
            return Event.ABSENT;
        }
        final byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
        return StampedValue.idIn(bytes, bytes.length);
    }

    /** Performs one random operation. */
    ValueEvent ask(int slot, String key) {
        return ask(MIX[random.nextInt(MIX.length)], slot, key);
    }

    ValueEvent read(int slot, String key) {
        return ask(ValueAction.GET, slot, key);
    }

    private ValueEvent ask(ValueAction action, int slot, String key) {
        final long own = (caller + 1L) << CALLER_SHIFT;
        final long written = action.stores() ? own + ++values : Event.ABSENT;
        // A missing value equals nothing, so the comparison uses a value that a caller wrote.
        final long expected = action.compares() ? (last[slot] > Event.ABSENT ? last[slot] : own) : Event.ABSENT;
        final boolean isCompound = action.compares() || action == ValueAction.INVOKE;
        final TimedCalls.Answer<Reply> answer = calls.make(
                action.label(), action == ValueAction.GET, isCompound, () -> call(action, key, written, expected));
        final Reply reply = answer.value() == null ? new Reply(answer.outcome(), Event.NOT_ASKED) : answer.value();
        if (reply.outcome() == Outcome.DONE) {
            last[slot] = action.stores() ? written : Math.max(Event.ABSENT, reply.observed());
        } else if (reply.outcome() == Outcome.CONDITION_FAILED) {
            last[slot] = Event.ABSENT;
        }
        return new ValueEvent(
                caller,
                action,
                written,
                expected,
                reply.outcome(),
                reply.observed(),
                answer.invokedNs(),
                answer.returnedNs());
    }

    private Reply call(ValueAction action, String key, long written, long expected) {
        return switch (action) {
            case GET -> found(cache.get(key));
            case PUT -> {
                cache.put(key, text(written));
                yield new Reply(Outcome.DONE, Event.NOT_ASKED);
            }
            case GET_AND_PUT -> done(cache.getAndPut(key, text(written)));
            case PUT_IF_ABSENT -> held(cache.putIfAbsent(key, text(written)));
            case REPLACE_IF_VALUE -> held(cache.replace(key, text(expected), text(written)));
            case REMOVE -> new Reply(cache.remove(key) ? Outcome.DONE : Outcome.NOT_FOUND, Event.NOT_ASKED);
            case GET_AND_REMOVE -> found(cache.getAndRemove(key));
            case REMOVE_IF_VALUE -> held(cache.remove(key, text(expected)));
            case INVOKE -> done(cache.invoke(key, new Swap(text(written))));
        };
    }

    private static Reply found(@Nullable String value) {
        return value == null ? new Reply(Outcome.NOT_FOUND, Event.NOT_ASKED) : done(value);
    }

    private static Reply done(@Nullable String value) {
        return new Reply(Outcome.DONE, idOf(value));
    }

    private static Reply held(boolean condition) {
        return new Reply(condition ? Outcome.DONE : Outcome.CONDITION_FAILED, Event.NOT_ASKED);
    }

    /** Sets the value, and returns the former one. */
    private record Swap(String value) implements EntryProcessor<String, String, String> {
        @Override
        public @Nullable String process(MutableEntry<String, String> entry, @Nullable Object... arguments) {
            final String before = entry.getValue();
            entry.setValue(value);
            return before;
        }
    }
}
