package org.rowankv.jcache.operation;

/** The conditional changes of the JSR: what becomes of an entry, by whether it is there and equals the expected value. */
enum MutationKind {
    PUT,
    PUT_IF_ABSENT,
    REPLACE,
    REPLACE_VALUE,
    REMOVE_VALUE;

    /** What to do to an entry after a look at it. */
    enum Step {
        /** Nothing. */
        LEAVE,
        /** Nothing but to count it as accessed. */
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
