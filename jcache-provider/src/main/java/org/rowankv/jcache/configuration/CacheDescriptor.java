package org.rowankv.jcache.configuration;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import javax.cache.CacheException;
import org.rowankv.jcache.codec.KeyFormat;

/**
 * Stored part of a cache's configuration; a later opening must agree with it.
 *
 * <pre>
 *   +---------+----------+------------+--------------+------+
 *   | version | key type | value type | expiry class | keys |
 *   +---------+----------+------------+--------------+------+
 *     1 byte    the rest: names, each a 2-byte length and modified UTF-8
 * </pre>
 *
 * <p>Version 1 has no keys: they are serialized, and descriptors of such caches stay as they are.
 */
public record CacheDescriptor(String keyType, String valueType, String expiryClass, KeyFormat keys) {
    private static final int WITHOUT_KEYS = 1;
    private static final int VERSION = 2;

    public byte[] toBytes() {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeUTF(keyType);
            out.writeUTF(valueType);
            out.writeUTF(expiryClass);
            out.writeUTF(keys.text());
        } catch (IOException e) {
            throw new CacheException("the cache's configuration cannot be written", e);
        }
        return bytes.toByteArray();
    }

    public static CacheDescriptor of(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            final int version = in.readUnsignedByte();
            if (version != VERSION && version != WITHOUT_KEYS) {
                throw new CacheException("the cache was made by another version of this library (descriptor version "
                        + version + ", known: " + WITHOUT_KEYS + " and " + VERSION + "); open it with that version");
            }
            return new CacheDescriptor(
                    in.readUTF(),
                    in.readUTF(),
                    in.readUTF(),
                    version == WITHOUT_KEYS ? KeyFormat.SERIALIZED : keys(in.readUTF()));
        } catch (IOException e) {
            throw new CacheException("the stored configuration of the cache is damaged", e);
        }
    }

    private static KeyFormat keys(String text) {
        for (KeyFormat format : KeyFormat.values()) {
            if (format.text().equals(text)) {
                return format;
            }
        }
        throw new CacheException("the cache was made by another version of this library: its keys are \"" + text
                + "\"; open it with that version");
    }

    /** The same with another format of keys. */
    public CacheDescriptor withKeys(KeyFormat format) {
        return new CacheDescriptor(keyType, valueType, expiryClass, format);
    }

    @Override
    public String toString() {
        return "keys " + keyType + " (" + keys.text() + "), values " + valueType + ", expiry " + expiryClass;
    }
}
