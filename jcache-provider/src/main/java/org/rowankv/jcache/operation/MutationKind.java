package org.rowankv.jcache.operation;

/** The JSR's conditional changes, and their decisions by presence and equality of the entry. */
enum MutationKind {
    PUT,
    PUT_IF_ABSENT,
    REPLACE,
    REPLACE_VALUE,
    REMOVE_VALUE;

    /** What to do with an entry after reading it. */
    enum Step {
        /** Nothing. */
        LEAVE,
        /** Only count it as accessed. */
        ACCESS,
        WRITE,
        REMOVE
    }

    boolean comparesValues() {
        return this == REPLACE_VALUE || this == REMOVE_VALUE;
    }

    Step decide(boolean present, boolean equal) {
        return switch (this) {
            case PUT -> Step.WRITE;
            case PUT_IF_ABSENT -> present ? Step.LEAVE : Step.WRITE;
            case REPLACE -> present ? Step.WRITE : Step.LEAVE;
            case REPLACE_VALUE -> !present ? Step.LEAVE : equal ? Step.WRITE : Step.ACCESS;
            case REMOVE_VALUE -> !present ? Step.LEAVE : equal ? Step.REMOVE : Step.ACCESS;
        };
    }
}
