package org.rowankv.bench.micro;

import java.util.Arrays;

/** A hash-map key of bytes. Immutable; the bytes are not copied. */
final class ByteKey {
    private final byte[] bytes;
    private final int hash;

    ByteKey(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ByteKey that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
