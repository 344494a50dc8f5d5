package org.rowankv.sim.workload;

/** What an answer shows of its key. */
enum KeyState {
    ABSENT("absent"),
    /** It was there when its client looked last, in a cache with a limit: evicted, or ended by another client. */
    EVICTED("evicted?"),
    PRESENT("present"),
    /** There, with a lifetime. */
    MORTAL("mortal"),
    EXPIRED("expired"),
    /** The answer is that of an earlier attempt. */
    REPLAYED("replayed"),
    DESTROYED("destroyed"),
    REFUSED("refused"),
    UNANSWERED("unanswered"),
    /** As of a clear. */
    NOT_SHOWN("not shown");

    private final String label;

    KeyState(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
