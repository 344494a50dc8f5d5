package org.rowankv.server.authority;

/** Fields of few bits, in a byte array. */
final class StateBits {
    private final byte[] bytes;
    private int position;

    StateBits(byte[] bytes) {
        this.bytes = bytes;
    }

    void put(int value, int width) {
        if (value < 0 || value >= 1 << width) {
            throw new IllegalStateException(value + " does not fit " + width + " bits");
        }
        final int low = position & 7;
        final int shifted = value << low;
        bytes[position >> 3] |= (byte) shifted;
        // A field has at most 8 bits, and so lies in two bytes.
        if (low + width > 8) {
            bytes[(position >> 3) + 1] |= (byte) (shifted >> 8);
        }
        position += width;
    }

    void put(boolean value) {
        put(value ? 1 : 0, 1);
    }

    int get(int width) {
        final int low = position & 7;
        int value = (bytes[position >> 3] & 0xFF) >> low;
        if (low + width > 8) {
            value |= (bytes[(position >> 3) + 1] & 0xFF) << 8 - low;
        }
        position += width;
        return value & (1 << width) - 1;
    }

    boolean is() {
        return get(1) == 1;
    }

    /** Bytes used so far. */
    int length() {
        return position + 7 >> 3;
    }
}
