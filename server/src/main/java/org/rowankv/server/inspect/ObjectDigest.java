package org.rowankv.server.inspect;

/**
 * One object's contribution to the digest of a replica: a number in which every bit depends on key, versions, value and
 * expiry. The digest is the sum of these, so it does not depend on order.
 */
final class ObjectDigest {
    private ObjectDigest() {}

    static long of(long keyHash, long version, long objectVersion, int valueCrc, long expiryMs) {
        return mix(mix(mix(mix(keyHash ^ version) ^ objectVersion) ^ valueCrc) ^ expiryMs);
    }

    /** A bijection whose result changes in half of its bits with each bit of its argument. */
    private static long mix(long value) {
        final long first = (value ^ value >>> 32) * 0xd6e8feb86659fd93L;
        final long second = (first ^ first >>> 32) * 0xd6e8feb86659fd93L;
        return second ^ second >>> 32;
    }
}
