package org.rowankv.sim.workload;

/** The lifetime argument of an operation. */
enum LifetimeKind {
    NONE(""),
    MORTAL("for a while"),
    /** The new object keeps the lifetime of the replaced one. */
    KEPT("kept"),
    /** Expires at once, at least where an object exists, or where none does. */
    IMMEDIATE("at once"),
    /** The object found gets another lifetime. */
    ACCESS("access"),
    /** The object found expires with this access. */
    LAST_ACCESS("last access");

    private final String label;

    LifetimeKind(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }
}
