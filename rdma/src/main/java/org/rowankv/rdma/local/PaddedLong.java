package org.rowankv.rdma.local;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A shared word with 128 bytes of padding on either side, against false sharing between pollers and writers of its
 * neighbours.
 */
final class PaddedLong {
    private static final VarHandle ELEMENT =
            MethodHandles.arrayElementVarHandle(long[].class).withInvokeExactBehavior();
    private static final int AT = 16;

    private final long[] array = new long[2 * AT + 1];

    long getVolatile() {
        return (long) ELEMENT.getVolatile(array, AT);
    }

    void setVolatile(long value) {
        ELEMENT.setVolatile(array, AT, value);
    }

    void setRelease(long value) {
        ELEMENT.setRelease(array, AT, value);
    }

    boolean compareAndSet(long expected, long value) {
        return ELEMENT.compareAndSet(array, AT, expected, value);
    }
}
