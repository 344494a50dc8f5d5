package org.rowankv.check.crash;

import org.rowankv.runtime.RandomSource;

/** The moment at which the crash check kills its child. */
enum CrashMoment {
    /** While threads put, remove and update. */
    IN_LOAD,
    /** Anywhere between the start of the process and the open store. */
    IN_START,
    /** Around the clean close, perhaps just after it. */
    IN_CLOSE;

    static CrashMoment draw(RandomSource random) {
        final int die = random.nextInt(10);
        return die < 6 ? IN_LOAD : die < 8 ? IN_START : IN_CLOSE;
    }
}
