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
 *   +---------+----------+------------+--------------+------+-------+---------+
 *   | version | key type | value type | expiry class | keys | codec | columns |
 *   +---------+----------+------------+--------------+------+-------+---------+
 *     1 byte    the rest: names, each a 2-byte length and modified UTF-8
 * </pre>
 *
 * <p>Version 1 has no keys: they are serialized, and descriptors of such caches stay as they are. Only versions 3 and 4
 * have a codec, and only version 4 has columns.
 *
 * @param codec name of the application's codec of values; empty if they have this library's
 * @param columns what SQL has declared, in its own form; empty if it has not. An opening need not agree with it.
 */
public record CacheDescriptor(
        String keyType, String valueType, String expiryClass, KeyFormat keys, String codec, String columns) {
    private static final int WITHOUT_KEYS = 1;
    private static final int WITHOUT_CODEC = 2;
    private static final int WITHOUT_COLUMNS = 3;
    private static final int VERSION = 4;

    public byte[] toBytes() {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(version());
            out.writeUTF(keyType);
            out.writeUTF(valueType);
            out.writeUTF(expiryClass);
            out.writeUTF(keys.text());
            if (version() >= WITHOUT_COLUMNS) {
                out.writeUTF(codec);
            }
            if (version() == VERSION) {
                out.writeUTF(columns);
            }
        } catch (IOException e) { // a string of more than 65,535 bytes
            throw new IllegalArgumentException(
                    "the types or the columns of a cache are longer than its descriptor holds: " + e.getMessage(), e);
        }
        return bytes.toByteArray();
    }

    /** The lowest that has what there is, which older libraries read. */
    private int version() {
        if (!columns.isEmpty()) {
            return VERSION;
        }
        return codec.isEmpty() ? WITHOUT_CODEC : WITHOUT_COLUMNS;
    }

    public static CacheDescriptor of(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            final int version = in.readUnsignedByte();
            if (version < WITHOUT_KEYS || version > VERSION) {
                throw new CacheException("the cache was made by another version of this library (descriptor version "
                        + version + ", known: " + WITHOUT_KEYS + " to " + VERSION + "); open it with that version");
            }
            return new CacheDescriptor(
                    in.readUTF(),
                    in.readUTF(),
                    in.readUTF(),
                    version == WITHOUT_KEYS ? KeyFormat.SERIALIZED : keys(in.readUTF()),
                    version >= WITHOUT_COLUMNS ? in.readUTF() : "",
                    version == VERSION ? in.readUTF() : "");
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
        return new CacheDescriptor(keyType, valueType, expiryClass, format, codec, columns);
    }

    /** The same with another codec. */
    public CacheDescriptor withCodec(String name) {
        return new CacheDescriptor(keyType, valueType, expiryClass, keys, name, columns);
    }

    /** The same with other columns. */
    public CacheDescriptor withColumns(String declared) {
        return new CacheDescriptor(keyType, valueType, expiryClass, keys, codec, declared);
    }

    @Override
    public String toString() {
        return "keys " + keyType + " (" + keys.text() + "), values " + valueType
                + (codec.isEmpty() ? "" : " (" + codec + ')') + ", expiry " + expiryClass;
    }
}
