package org.rowankv.rdma;

/** Result of a post. Ints, because they are returned on the data path; the owner of the pair reacts to each. */
public final class PostStatus {
    /** A completion will follow. */
    public static final int POSTED = 0;
    /** No segment is posted: back off, report, retry. Nothing is lost. */
    public static final int RECEIVER_NOT_READY = 1;
    /** The pair is dead: none of its posts lands any more. Reconnect if the configuration admits it. */
    public static final int FENCED = 2;
    /** Poll completions first; for a message, the receiver's queue is full. */
    public static final int QUEUE_FULL = 3;
    /** Exceeds the fabric's maximum message: send it as blocks. */
    public static final int TOO_LARGE = 4;
    /** A message's receiver is not open in this cluster. */
    public static final int UNREACHABLE = 5;

    private static final String[] NAMES = {
        "POSTED", "RECEIVER_NOT_READY", "FENCED", "QUEUE_FULL", "TOO_LARGE", "UNREACHABLE"
    };

    private PostStatus() {}

    public static String name(int status) {
        return status >= 0 && status < NAMES.length ? NAMES[status] : "PostStatus " + status;
    }
}
