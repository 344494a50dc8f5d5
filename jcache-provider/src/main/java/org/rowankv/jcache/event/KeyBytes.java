package org.rowankv.jcache.event;

import java.util.Arrays;

/** An encoded key as a map key: equal by content. Immutable. */
public final class KeyBytes {
    private final byte[] bytes;
    private final int hash;

    public KeyBytes(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyBytes that && hash == that.hash && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
