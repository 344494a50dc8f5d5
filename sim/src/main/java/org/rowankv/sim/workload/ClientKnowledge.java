package org.rowankv.sim.workload;

import java.util.Arrays;
import org.rowankv.check.history.Event;

/** One client's last observations of each key, by history; its next operations often refer to them. */
final class ClientKnowledge {
    private static final int FEW = 32;

    private long[] version = new long[FEW];
    /** The value of that version, where known. */
    private long[] value = new long[FEW];
    /** Of the last read that found no object. */
    private long[] missVersion = new long[FEW];

    private void ensure(int history) {
        if (history >= version.length) {
            final int longer = Math.max(history + 1, 2 * version.length);
            version = Arrays.copyOf(version, longer);
            value = Arrays.copyOf(value, longer);
            missVersion = Arrays.copyOf(missVersion, longer);
        }
    }

    void met(int history, long newVersion, long newValue) {
        ensure(history);
        version[history] = newVersion;
        value[history] = newValue;
    }

    void missed(int history, long newVersion) {
        ensure(history);
        missVersion[history] = newVersion;
    }

    long version(int history) {
        return history < version.length ? version[history] : 0;
    }

    long value(int history) {
        return history < value.length ? value[history] : Event.ABSENT;
    }

    long missVersion(int history) {
        return history < missVersion.length ? missVersion[history] : 0;
    }
}
