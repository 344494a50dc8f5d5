package org.rowankv.sim.workload;

/** The state of a key as a reply shows it. */
enum KeyState {
    ABSENT("absent"),
    /** Its client saw it at the last read, in a cache with a limit: evicted, or removed by another client. */
    EVICTED("evicted?"),
    PRESENT("present"),
    /** Present, with a lifetime. */
    MORTAL("mortal"),
    EXPIRED("expired"),
    /** The reply is that of an earlier attempt. */
    REPLAYED("replayed"),
    DESTROYED("destroyed"),
    REFUSED("refused"),
    UNANSWERED("unanswered"),
    /** As after a clear. */
    NOT_SHOWN("not shown");

    private final String label;

    KeyState(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
