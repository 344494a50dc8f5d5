package org.rowankv.jcache.near;

import java.util.Arrays;
import org.rowankv.jcache.codec.ByteSink;

/**
 * The bytes of an encoded key: those of a sink, for a look-up without allocation, or a copy, to be kept. Equal if the
 * bytes are. Used by one thread at a time unless it is a copy.
 */
public final class NearKey {
    private byte[] bytes = new byte[0];
    private int length;
    private int hash;

    /** Takes the bytes of the sink, which must not change while this is used. */
    public NearKey set(ByteSink key) {
        return set(key.bytes(), key.length());
    }

    private NearKey set(byte[] newBytes, int newLength) {
        bytes = newBytes;
        length = newLength;
        int newHash = newLength;
        for (int i = 0; i < newLength; i++) {
            newHash = 31 * newHash + newBytes[i];
        }
        hash = newHash;
        return this;
    }

    /** A copy with its own bytes. */
    NearKey copy() {
        return new NearKey().set(Arrays.copyOf(bytes, length), length);
    }

    int length() {
        return length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NearKey that
                && hash == that.hash
                && Arrays.equals(bytes, 0, length, that.bytes, 0, that.length);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
