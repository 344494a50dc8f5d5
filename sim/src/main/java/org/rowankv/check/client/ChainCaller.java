package org.rowankv.check.client;

import java.util.List;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ChainLink;
import org.rowankv.check.history.Outcome;

/** A caller that increments counters by entry processor, and extends chains by compare-and-set. Owned by its thread. */
public final class ChainCaller {
    private final int caller;
    private final Cache<String, String> chains;
    private final Cache<String, Long> counters;
    private final TimedCalls calls;

    private long links;

    ChainCaller(int caller, Cache<String, String> chains, Cache<String, Long> counters, TimedCalls calls) {
        this.caller = caller;
        this.chains = chains;
        this.counters = counters;
        this.calls = calls;
    }

    /** Converts a counter's value; null is NONE. */
    public static ChainLink countOf(@Nullable Long value) {
        return value == null ? ChainLink.NONE : ChainLink.count(value);
    }

    /** Converts a chain's value; null is NONE. */
    public static ChainLink linkOf(@Nullable String value) {
        return value == null ? ChainLink.NONE : ChainLink.ofText(value);
    }

    private static long increment(Cache<String, Long> cache, String key) {
        return cache.invoke(key, (entry, arguments) -> {
            final long next = entry.exists() ? entry.getValue() + 1 : 1;
            entry.setValue(next);
            return next;
        });
    }

    ChainEvent increment(String key) {
        return event(true, calls.make("increment", false, true, () -> ChainLink.count(increment(counters, key))));
    }

    ChainEvent readCounter(String key) {
        return event(false, calls.make("read counter", true, false, () -> countOf(counters.get(key))));
    }

    ChainEvent readChain(String key) {
        return event(false, calls.make("read chain", true, false, () -> linkOf(chains.get(key))));
    }

    /** Reads the value, and replaces it by its successor. */
    List<ChainEvent> extend(String key) {
        final ChainEvent read = readChain(key);
        if (read.outcome() != Outcome.DONE || read.link().number() < 0) {
            return List.of(read);
        }
        final ChainLink next = read.link().next(((caller + 1L) << RegisterCaller.CALLER_SHIFT) + ++links);
        final boolean isFirst = read.link().equals(ChainLink.NONE);
        final TimedCalls.Answer<Boolean> answer = calls.make(
                "extend chain",
                false,
                !isFirst,
                () -> isFirst
                        ? chains.putIfAbsent(key, next.toText())
                        : chains.replace(key, read.link().toText(), next.toText()));
        final Outcome outcome =
                answer.value() == null ? answer.outcome() : answer.value() ? Outcome.DONE : Outcome.CONDITION_FAILED;
        return List.of(read, new ChainEvent(caller, true, next, outcome, answer.invokedNs(), answer.returnedNs()));
    }

    private ChainEvent event(boolean extending, TimedCalls.Answer<ChainLink> answer) {
        return new ChainEvent(
                caller,
                extending,
                answer.value() == null ? ChainLink.NONE : answer.value(),
                answer.outcome(),
                answer.invokedNs(),
                answer.returnedNs());
    }
}
