package org.rowankv.jcache.configuration;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import javax.cache.CacheException;

/**
 * Stored part of a cache's configuration; a later opening must agree with it.
 *
 * <pre>
 *   +---------+----------+------------+--------------+
 *   | version | key type | value type | expiry class |
 *   +---------+----------+------------+--------------+
 *     1 byte    the rest: class names, each a 2-byte length and modified UTF-8
 * </pre>
 */
public record CacheDescriptor(String keyType, String valueType, String expiryClass) {
    private static final int VERSION = 1;

    public byte[] toBytes() {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeUTF(keyType);
            out.writeUTF(valueType);
            out.writeUTF(expiryClass);
        } catch (IOException e) {
            throw new CacheException("the cache's configuration cannot be written", e);
        }
        return bytes.toByteArray();
    }

    public static CacheDescriptor of(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            final int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new CacheException("the cache was made by another version of this library (descriptor version "
                        + version + ", known: " + VERSION + "); open it with that version");
            }
            return new CacheDescriptor(in.readUTF(), in.readUTF(), in.readUTF());
        } catch (IOException e) {
            throw new CacheException("the stored configuration of the cache is damaged", e);
        }
    }

    @Override
    public String toString() {
        return "keys " + keyType + ", values " + valueType + ", expiry " + expiryClass;
    }
}
