package org.rowankv.check.history;

import org.rowankv.protocol.Version;

/**
 * One operation on one key, as its caller saw it. Values are represented by ids: every write of a run has a unique id,
 * so an id identifies the write that produced a read value.
 *
 * @param caller the calling thread's number
 * @param written the id of the value to store, of an expiry that of the expiring value, or {@link #ABSENT}
 * @param expectedVersion the version argument, if the operation has one
 * @param version of a read: that of the object or, without one, the version that the read returned for {@link
 *     KeyAction#PUT_IF_ABSENT_SINCE} (0: unknown); of a mutation: the version it created or, when its condition failed,
 *     that of the existing object (0: none)
 * @param previousVersion of a mutation that took effect: the version it replaced or removed (0: none), or {@link
 *     #UNKNOWN_VERSION}
 * @param observed the id of the value that was read, replaced or removed, or {@link #ABSENT}; {@link #NOT_ASKED} when
 *     the caller did not request it; {@link #TORN} when no write has these bytes
 * @param invokedNs before the call
 * @param returnedNs after the call; ignored when the outcome is unknown
 */
public record Event(
        int caller,
        KeyAction action,
        long written,
        long expectedVersion,
        Outcome outcome,
        long version,
        long previousVersion,
        long observed,
        long invokedNs,
        long returnedNs)
        implements ReportedOperation {
    /** No object. Ids of values are positive. */
    public static final long ABSENT = 0;

    public static final long NOT_ASKED = -1;
    public static final long TORN = -2;

    /** Previous version of an object that the server has reported as damaged. */
    public static final long UNKNOWN_VERSION = -1;

    /** Whether its reply said that it had no effect. */
    boolean changedNothing() {
        return outcome == Outcome.REFUSED || outcome == Outcome.NOT_FOUND || outcome == Outcome.CONDITION_FAILED;
    }

    /**
     * Whether it may have replaced or removed any object: the caller did not request the former value, and the reply
     * does not identify it.
     */
    boolean metDamage() {
        return previousVersion == UNKNOWN_VERSION
                && outcome == Outcome.DONE
                && (action == KeyAction.PUT || action == KeyAction.REMOVE)
                && observed == NOT_ASKED;
    }

    @Override
    public String question() {
        return action.label()
                + (action.stores() || action == KeyAction.EXPIRY ? " #" + written : "")
                + (action.expectsVersion() ? " if version " + Version.toString(expectedVersion) : "")
                + (action == KeyAction.PUT_IF_ABSENT_SINCE
                        ? " if unchanged since " + Version.toString(expectedVersion)
                        : "");
    }

    @Override
    public String answer() {
        return switch (outcome) {
            case UNKNOWN -> "no answer";
            case REFUSED -> "refused";
            case NOT_FOUND -> "nothing there";
            case CONDITION_FAILED ->
                version == Version.NONE
                        ? "condition failed: nothing there"
                        : "condition failed: version " + Version.toString(version) + " is there";
            case DONE ->
                action == KeyAction.GET
                        ? value() + " of version " + Version.toString(version)
                        : "version " + Version.toString(version)
                                + (previousVersion == Version.NONE
                                        ? ", nothing was there"
                                        : previousVersion == UNKNOWN_VERSION
                                                ? ", former state unknown"
                                                : ", before it version " + Version.toString(previousVersion) + value());
        };
    }

    private String value() {
        final String text = observed == TORN ? "bytes that no caller wrote" : observed > 0 ? "#" + observed : "";
        return action == KeyAction.GET || text.isEmpty() ? text : " (" + text + ")";
    }
}
