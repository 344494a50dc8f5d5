package org.rowankv.server.request;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.protocol.Status;

/**
 * Searches by brute force for a sequential order of the operations in which each gets its actual response. No operation
 * may precede one that had returned before it was called, and the keys must end with their actual objects. An operation
 * without a response may take part or not.
 */
final class SequentialOrder {
    private final List<Asked> operations;
    private final String[] last;
    /** The versions of objects by value, as far as a response reported them. */
    private final Map<String, Long> versions = new HashMap<>();

    SequentialOrder(List<Asked> operations, String firstValue, long firstVersion, String[] last) {
        this.operations = operations;
        this.last = last;
        versions.put(firstValue, firstVersion);
        operations.stream().filter(Asked::tookEffect).forEach(each -> versions.put(each.value, each.version));
    }

    /** @param first the keys' values at the start */
    boolean exists(String[] first) {
        return exists(first, first[0], 0, 0);
    }

    private boolean exists(String[] now, String first, int done, long highest) {
        if (operations.stream().noneMatch(each -> each.isAnswered() && !isDone(done, each))
                && Arrays.equals(now, last)) {
            return true;
        }
        for (Asked next : operations) {
            if (!isDone(done, next) && next.begun && mayBeNext(next, done)) {
                final String[] then = now.clone();
                final Asked.Answer answer = perform(next, then, first);
                final boolean effect = next.tookEffect();
                if ((!next.isAnswered() || answer.equals(next.answer) && versionsMatch(next, now))
                        && (!effect || next.version > highest)
                        && exists(then, first, done | bit(next), effect ? next.version : highest)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean versionsMatch(Asked operation, String[] before) {
        if (!operation.tookEffect()) {
            return true;
        }
        final String old = operation.kind == Asked.Kind.CLEAR ? null : before[operation.key];
        final Long expected = old == null ? Long.valueOf(0) : versions.get(old);
        return expected == null || expected == operation.previousVersion;
    }

    private int bit(Asked operation) {
        return 1 << operations.indexOf(operation);
    }

    private boolean isDone(int done, Asked operation) {
        return (done & bit(operation)) != 0;
    }

    private boolean mayBeNext(Asked next, int done) {
        return operations.stream().noneMatch(each -> !isDone(done, each) && each.answeredAt < next.askedAt);
    }

    private static Asked.Answer perform(Asked operation, String[] values, String first) {
        if (operation.kind == Asked.Kind.CLEAR) {
            Arrays.fill(values, null);
            return new Asked.Answer(Status.OK, false, null);
        }
        final String old = values[operation.key];
        final Status status = switch (operation.kind) {
            case PUT_IF_ABSENT -> old == null ? Status.OK : Status.CONDITION_FAILED;
            case REPLACE_FIRST ->
                old == null ? Status.NOT_FOUND : old.equals(first) ? Status.OK : Status.CONDITION_FAILED;
            case DELETE -> old == null ? Status.NOT_FOUND : Status.OK;
            default -> Status.OK;
        };
        if (status == Status.OK) {
            values[operation.key] = operation.kind == Asked.Kind.DELETE ? null : operation.value;
        }
        return new Asked.Answer(status, old != null, old);
    }
}
