package org.rowankv.check.history;

import org.rowankv.protocol.Version;

/**
 * One operation on one key, as its caller saw it. Values are ids: whoever writes gives every write of a run an id of its
 * own, so that an id says which write produced what was read.
 *
 * @param caller who asked
 * @param written the id of the value it would store, of an expiry that of the value which ends, or {@link #ABSENT}
 * @param expectedVersion of an operation that names one
 * @param version of a read: of what was found or, where nothing was, the version that the read returned for
 *     {@link Action#PUT_IF_ABSENT_SINCE} (0: unknown); of a mutation: the version it made or, when its condition failed, that of
 *     the object which is there (0: none)
 * @param previousVersion of a mutation that took effect: the version of what it replaced or removed (0: nothing), or
 *     {@link #UNKNOWN_VERSION}
 * @param observed the id of the value that was read, replaced or removed, {@link #ABSENT}, {@link #NOT_ASKED} when the
 *     caller did not want it, or {@link #TORN} when its bytes are none that anybody wrote
 * @param invokedNs before the call
 * @param returnedNs after the call; ignored when the outcome is unknown
 */
public record Event(
        int caller,
        Action action,
        long written,
        long expectedVersion,
        Outcome outcome,
        long version,
        long previousVersion,
        long observed,
        long invokedNs,
        long returnedNs)
        implements Told {
    /** No object. Ids of values are positive. */
    public static final long ABSENT = 0;

    public static final long NOT_ASKED = -1;
    public static final long TORN = -2;

    /** Of what was replaced or removed, where the server has said that it is damaged. */
    public static final long UNKNOWN_VERSION = -1;

    /** Whether its caller was told that it had no effect. */
    boolean changedNothing() {
        return outcome == Outcome.REFUSED || outcome == Outcome.NOT_FOUND || outcome == Outcome.CONDITION_FAILED;
    }

    /** Whether it may have replaced or removed anything: it asked for nothing of what was there, and its answer says nothing of it. */
    boolean metDamage() {
        return previousVersion == UNKNOWN_VERSION
                && outcome == Outcome.DONE
                && (action == Action.PUT || action == Action.REMOVE)
                && observed == NOT_ASKED;
    }

    @Override
    public String question() {
        return action.label()
                + (action.stores() || action == Action.EXPIRY ? " #" + written : "")
                + (action.expectsVersion() ? " if version " + Version.toString(expectedVersion) : "")
                + (action == Action.PUT_IF_ABSENT_SINCE
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
                action == Action.GET
                        ? value() + " of version " + Version.toString(version)
                        : "version " + Version.toString(version)
                                + (previousVersion == Version.NONE
                                        ? ", nothing was there"
                                        : previousVersion == UNKNOWN_VERSION
                                                ? ", not known what was there"
                                                : ", before it version " + Version.toString(previousVersion) + value());
        };
    }

    private String value() {
        final String text = observed == TORN ? "bytes that nobody wrote" : observed > 0 ? "#" + observed : "";
        return action == Action.GET || text.isEmpty() ? text : " (" + text + ")";
    }
}
