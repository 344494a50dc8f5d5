package org.rowankv.tools;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Textual form of keys, which are plain bytes to a server. */
public final class KeyText {
    private static final int MAX_BYTES = 64;

    private KeyText() {}

    /** Printable ASCII as itself, every other byte as \xNN; a long key is truncated. */
    public static String of(byte[] key) {
        final StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < Math.min(key.length, MAX_BYTES); i++) {
            final char c = (char) (key[i] & 0xff);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c >= ' ' && c <= '~') {
                text.append(c);
            } else {
                text.append(String.format("\\x%02x", (int) c));
            }
        }
        text.append('"');
        return key.length > MAX_BYTES ? text + "... (" + key.length + " bytes)" : text.toString();
    }

    /** The bytes to search for in keys: 0x and hex digits, or a text's UTF-8. */
    public static byte[] parse(String option) {
        return option.startsWith("0x")
                ? HexFormat.of().parseHex(option.substring(2))
                : option.getBytes(StandardCharsets.UTF_8);
    }

    public static boolean contains(byte[] key, byte[] part) {
        for (int at = 0; at + part.length <= key.length; at++) {
            if (Arrays.equals(key, at, at + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }
}
