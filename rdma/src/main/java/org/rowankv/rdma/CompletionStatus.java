package org.rowankv.rdma;

/** Outcome of a posted operation. */
public final class CompletionStatus {
    /** Landed, at the fabric's {@link AckLevel}. It does not mean digested. */
    public static final int LANDED = 0;
    /** The pair was fenced first. A SEND has not landed and never will. */
    public static final int FENCED = 1;
    /** Another pair's fence voided this SEND's reservation. It has not landed; the pair is alive: append again. */
    public static final int VOIDED = 2;
    /** The connection broke with the operation in flight: it may or may not have landed. Never on {@code local}. */
    public static final int UNKNOWN = 3;

    private CompletionStatus() {}
}
