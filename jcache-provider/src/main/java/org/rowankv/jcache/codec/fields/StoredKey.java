package org.rowankv.jcache.codec.fields;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ByteSource;
import org.rowankv.jcache.codec.Tag;

/**
 * A stored key of several parts, an object's fields or a list ({@link Tag#FIELDS}, {@link Tag#LIST}), without its class.
 * A part is the encoding of an object. Immutable: the caller must not change the array it was read from.
 */
public final class StoredKey {
    private final String className;
    private final byte[] bytes;
    /** Of each part: where it begins, and behind its end. */
    private final int[] bounds;

    private StoredKey(String className, byte[] bytes, int[] bounds) {
        this.className = className;
        this.bytes = bytes;
        this.bounds = bounds;
    }

    /** Whether a key has parts. */
    public static boolean isAt(byte[] key) {
        return key.length > 0 && (key[0] == Tag.FIELDS || key[0] == Tag.LIST);
    }

    /** Reads a key. */
    public static StoredKey read(byte[] key) {
        final ByteSource in = new ByteSource(key, 1, key.length - 1);
        final String className = key[0] == Tag.FIELDS ? StoredObject.readName(in) : "";
        int[] bounds = new int[8];
        int count = 0;
        while (in.remaining() > 0) {
            final int length = in.readInt();
            if (count == bounds.length) {
                bounds = Arrays.copyOf(bounds, 2 * count);
            }
            bounds[count] = in.skip(length);
            bounds[count + 1] = bounds[count] + length;
            count += 2;
        }
        return new StoredKey(className, key, Arrays.copyOf(bounds, count));
    }

    /**
     * A key of these parts.
     *
     * @param className of the object; empty for a list
     * @param parts their encodings, or null
     */
    public static byte[] write(String className, List<byte @Nullable []> parts) {
        final ByteSink out = new ByteSink(64);
        if (className.isEmpty()) {
            out.write(Tag.LIST);
        } else {
            out.write(Tag.FIELDS);
            final byte[] name = className.getBytes(StandardCharsets.UTF_8);
            out.writeShort(name.length);
            out.write(name, 0, name.length);
        }
        for (byte @Nullable [] part : parts) {
            out.writeInt(part == null ? 1 : part.length);
            if (part == null) {
                out.write(Tag.NULL);
            } else {
                out.write(part, 0, part.length);
            }
        }
        return out.toBytes();
    }

    /** Empty for a list. */
    public String className() {
        return className;
    }

    /** The array that contains the parts. */
    public byte[] bytes() {
        return bytes;
    }

    /** How many parts it has. */
    public int size() {
        return bounds.length / 2;
    }

    public int offset(int part) {
        return bounds[2 * part];
    }

    public int length(int part) {
        return bounds[2 * part + 1] - bounds[2 * part];
    }
}
