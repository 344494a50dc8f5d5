package org.rowankv.sim.workload;

/** What an operation says of lifetimes. */
enum LifetimeKind {
    NONE(""),
    MORTAL("for a while"),
    /** What is replaced leaves its lifetime behind. */
    KEPT("kept"),
    /** Over at once, at least where there is something, or where there is nothing. */
    IMMEDIATE("at once"),
    /** What is met gets another lifetime. */
    ACCESS("access"),
    /** What is met is over with it. */
    LAST_ACCESS("last access");

    private final String label;

    LifetimeKind(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
