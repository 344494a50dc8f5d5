package org.rowankv.rdma.verbs;

/** Outcome of a posting, numbered as in the InfiniBand verbs. After every other than SUCCESS the queue pair is dead. */
public final class WorkStatus {
    public static final int SUCCESS = 0;
    /** A message was longer than the receive it met. */
    public static final int LENGTH_ERROR = 1;
    /** Memory was not registered, or not all of it. */
    public static final int PROTECTION_ERROR = 4;
    /** The queue pair had failed before. */
    public static final int FLUSHED = 5;
    /** The other end could not take a message. */
    public static final int INVALID_REQUEST = 9;
    /** The other end has not exposed that memory, or not all of it. */
    public static final int REMOTE_ACCESS_ERROR = 10;
    /** The other end does not answer. */
    public static final int RETRIES_EXCEEDED = 12;
    /** The other end had no receive posted for too long: the account of slots is wrong. */
    public static final int NOT_READY_RETRIES_EXCEEDED = 13;

    private WorkStatus() {}

    /** For logs. */
    public static String text(int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case LENGTH_ERROR -> "a message is longer than the receive";
            case PROTECTION_ERROR -> "memory is not registered";
            case FLUSHED -> "the queue pair has failed";
            case INVALID_REQUEST -> "the other end cannot take the message";
            case REMOTE_ACCESS_ERROR -> "the other end has not exposed that memory";
            case RETRIES_EXCEEDED -> "the other end does not answer";
            case NOT_READY_RETRIES_EXCEEDED -> "the other end has no receive posted";
            default -> "status " + status;
        };
    }
}
