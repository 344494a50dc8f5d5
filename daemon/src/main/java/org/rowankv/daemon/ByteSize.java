package org.rowankv.daemon;

import java.util.Locale;

/** Bytes as people write them: {@code 64k}, {@code 256m}, {@code 2g}, or a plain number. */
final class ByteSize {
    private ByteSize() {}

    /** @throws IllegalArgumentException if it is none */
    static long parse(String text) {
        final String lower = text.strip().toLowerCase(Locale.ROOT);
        final String digits = lower.isEmpty() ? "" : lower.substring(0, lower.length() - 1);
        try {
            if (lower.endsWith("k")) {
                return Math.multiplyExact(Long.parseLong(digits), 1L << 10);
            } else if (lower.endsWith("m")) {
                return Math.multiplyExact(Long.parseLong(digits), 1L << 20);
            } else if (lower.endsWith("g")) {
                return Math.multiplyExact(Long.parseLong(digits), 1L << 30);
            }
            return Long.parseLong(lower);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new IllegalArgumentException("'" + text + "' is no size: write 64k, 256m or 2g");
        }
    }
}
