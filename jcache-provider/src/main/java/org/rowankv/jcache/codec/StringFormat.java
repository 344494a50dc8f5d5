package org.rowankv.jcache.codec;

import java.nio.charset.StandardCharsets;

/** Format of strings. Stateless. */
final class StringFormat {
    private StringFormat() {}

    static void write(String text, ByteSink out) {
        final int length = text.length();
        final int start = out.claim(1 + length);
        final byte[] bytes = out.bytes();
        int seen = 0;
        for (int i = 0, at = start + 1; i < length; i++, at++) {
            final char c = text.charAt(i);
            seen |= c;
            bytes[at] = (byte) c;
        }
        if (seen < 256) {
            bytes[start] = Tag.STRING_LATIN1;
        } else {
            bytes[start] = Tag.STRING_UTF16;
            writeUtf16(text, start + 1, out);
        }
    }

    private static void writeUtf16(String text, int start, ByteSink out) {
        final int length = text.length();
        out.claim(length); // the second byte of each char
        final byte[] bytes = out.bytes();
        for (int i = 0, at = start; i < length; i++, at += 2) {
            final char c = text.charAt(i);
            bytes[at] = (byte) (c >> 8);
            bytes[at + 1] = (byte) c;
        }
    }

    static String readLatin1(byte[] bytes, int offset, int length) {
        return new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
    }

    /** Decodes by hand, because a charset replaces unpaired surrogates. */
    static String readUtf16(byte[] bytes, int offset, int length) {
        if ((length & 1) != 0) {
            throw new MalformedBytesException("a string of two bytes per char has " + length + " bytes");
        }
        final char[] chars = new char[length / 2];
        for (int i = 0, at = offset; i < chars.length; i++, at += 2) {
            chars[i] = (char) (bytes[at] << 8 | bytes[at + 1] & 0xff);
        }
        return new String(chars);
    }
}
