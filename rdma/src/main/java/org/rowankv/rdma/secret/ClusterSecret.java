package org.rowankv.rdma.secret;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of a cluster, as one key per purpose (HKDF of RFC 5869 with HMAC-SHA256). The text itself is not kept.
 *
 * <p>Immutable; for any thread. It shows nothing of itself in {@link #toString}.
 */
public final class ClusterSecret {
    /** Bytes of a MAC. */
    public static final int MAC_LENGTH = 32;

    /** Bytes that a secret has at least, without white space around it. */
    public static final int LEAST_LENGTH = 16;

    private static final String ALGORITHM = "HmacSHA256";
    private static final byte[] SALT = "rowan-kv cluster secret, version 1".getBytes(StandardCharsets.UTF_8);

    /** What a MAC is for. The MAC of one purpose is never valid for another. */
    public enum Purpose {
        /** The handshake between servers. */
        HANDSHAKE,
        /** What a server writes about itself in the configuration store. */
        REGISTRATION
    }

    private final Map<Purpose, SecretKeySpec> keys = new EnumMap<>(Purpose.class);

    private ClusterSecret(byte[] text) {
        final Mac extract = mac(new SecretKeySpec(SALT, ALGORITHM));
        final SecretKeySpec pseudoRandom = new SecretKeySpec(extract.doFinal(text), ALGORITHM);
        for (final Purpose purpose : Purpose.values()) {
            final Mac expand = mac(pseudoRandom);
            expand.update(("rowan-kv " + purpose.name()).getBytes(StandardCharsets.UTF_8));
            expand.update((byte) 1);
            keys.put(purpose, new SecretKeySpec(expand.doFinal(), ALGORITHM));
        }
    }

    /**
     * The secret with that text; white space around it does not count.
     *
     * @param origin names the source in the message of a refusal, which never shows the text
     * @throws IllegalArgumentException if it is empty, shorter than {@link #LEAST_LENGTH} bytes or longer than one line
     */
    public static ClusterSecret of(String origin, String text) {
        final String trimmed = text.strip();
        if (trimmed.isEmpty()) {
            throw new IllegalArgumentException(origin + " is empty: write at least " + LEAST_LENGTH
                    + " bytes, such as \"openssl rand -hex 16\" gives");
        }
        if (trimmed.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    origin + " has more than one line, or control characters: write one line");
        }
        final byte[] bytes = trimmed.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < LEAST_LENGTH) {
            throw new IllegalArgumentException(origin + " has " + bytes.length + " bytes: a secret has at least "
                    + LEAST_LENGTH + ", such as \"openssl rand -hex 16\" gives");
        }
        return new ClusterSecret(bytes);
    }

    /** A MAC that has begun with nothing; for one thread. */
    public Mac begin(Purpose purpose) {
        final SecretKeySpec key = keys.get(purpose);
        if (key == null) {
            throw new AssertionError(purpose);
        }
        return mac(key);
    }

    /** Whether two MACs are the same, in a time that does not depend on where they differ. */
    public static boolean isSame(byte[] one, byte[] other) {
        return MessageDigest.isEqual(one, other);
    }

    private static Mac mac(SecretKeySpec key) {
        try {
            final Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + ALGORITHM, e);
        }
    }

    @Override
    public String toString() {
        return "ClusterSecret";
    }
}
