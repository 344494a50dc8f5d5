package org.rowankv.check.verify;

/** A fault of one attempt in transit. */
enum DeliveryFault {
    /** The attempt never arrives. */
    DROP_REQUEST("request dropped"),
    /** It arrives and takes effect, but its reply is lost. */
    DROP_REPLY("reply dropped"),
    /** It arrives twice, one after the other; the second reply counts. */
    TWICE("delivered twice"),
    /** It arrives twice at the same time. */
    TWICE_AT_ONCE("delivered twice at once"),
    /** A copy of it arrives later, possibly after its operation has ended. */
    LATE_COPY("late copy delivered"),
    /** It is delayed so long that the caller's retry overtakes it. */
    OVERTAKEN("overtaken by its retry"),
    /** From now on every reply to this operation is lost, until its caller gives up. */
    NO_REPLY_EVER("reply lost for ever");

    private final String label;

    DeliveryFault(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
