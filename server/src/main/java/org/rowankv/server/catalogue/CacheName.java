package org.rowankv.server.catalogue;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The name of a cache as a name in the configuration store. Lower-case letters, digits and the underscore are kept,
 * every other UTF-16 unit becomes {@code %} and four hex digits. So no two names collide, even in a case-insensitive
 * directory, and none can leave the directory. A long name becomes a hash of itself.
 */
final class CacheName {
    private static final int MAX_ENCODED_LENGTH = 120;
    private static final String PLAIN_PREFIX = "n_";
    private static final String HASH_PREFIX = "h_";

    private CacheName() {}

    static String encode(String name) {
        final StringBuilder encoded = new StringBuilder(PLAIN_PREFIX);
        for (int i = 0; i < name.length() && encoded.length() <= MAX_ENCODED_LENGTH; i++) {
            final char c = name.charAt(i);
            if (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_') {
                encoded.append(c);
            } else {
                encoded.append('%');
                appendHex(encoded, c >>> Byte.SIZE);
                appendHex(encoded, c & 0xff);
            }
        }
        return encoded.length() <= MAX_ENCODED_LENGTH ? encoded.toString() : hash(name);
    }

    private static String hash(String name) {
        final MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        for (int i = 0; i < name.length(); i++) {
            digest.update((byte) (name.charAt(i) >>> Byte.SIZE));
            digest.update((byte) name.charAt(i));
        }
        final StringBuilder encoded = new StringBuilder(HASH_PREFIX);
        for (byte b : digest.digest()) {
            appendHex(encoded, b & 0xff);
        }
        return encoded.toString();
    }

    private static void appendHex(StringBuilder text, int value) {
        text.append(Character.forDigit(value >>> 4, 16)).append(Character.forDigit(value & 0xf, 16));
    }
}
