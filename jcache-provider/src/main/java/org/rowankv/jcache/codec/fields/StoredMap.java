package org.rowankv.jcache.codec.fields;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ByteSource;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.MalformedBytesException;
import org.rowankv.jcache.codec.Tag;

/**
 * A stored map with names as keys, as a row of named columns. An entry is the encoding of an object; a changed map keeps
 * the bytes and the order of all others. Used by one thread.
 */
public final class StoredMap {
    /** The number of {@code java.util.LinkedHashMap} in a {@link Tag#COLLECTION}. */
    private static final byte LINKED_HASH_MAP = 9;

    private final byte kind;
    private final List<byte[]> keys = new ArrayList<>();
    private final List<byte[]> values = new ArrayList<>();

    private StoredMap(byte kind) {
        this.kind = kind;
    }

    /** An empty map, which keeps the order of its entries. */
    public static StoredMap empty() {
        return new StoredMap(LINKED_HASH_MAP);
    }

    /** Whether the encoding of an object is a map. */
    public static boolean isAt(byte[] bytes) {
        return bytes.length > 1 && bytes[0] == Tag.COLLECTION && bytes[1] >= Tag.FIRST_MAP;
    }

    /** What {@link #read} finds. */
    public interface Visitor {
        /** One entry of the name; {@code length} bytes of its value are at the offset. */
        void entry(String name, byte[] bytes, int offset, int length);
    }

    /** Visits the entries whose keys are texts. */
    public static void visit(byte[] map, Codec codec, Visitor visitor) {
        final ByteSource in = new ByteSource(map, 2, map.length - 2);
        while (in.remaining() > 0) {
            final int keyLength = in.readVarint();
            final int key = in.skip(keyLength);
            final int length = in.readVarint();
            final int offset = in.skip(length);
            if (isText(map[key])) {
                visitor.entry((String) codec.decode(map, key, keyLength), map, offset, length);
            }
        }
    }

    private static boolean isText(byte tag) {
        return tag == Tag.STRING_LATIN1 || tag == Tag.STRING_UTF16;
    }

    /** Reads a map, to change it. */
    public static StoredMap read(byte[] map) {
        if (!isAt(map)) {
            throw new MalformedBytesException("a stored value is no map");
        }
        final StoredMap read = new StoredMap(map[1]);
        final ByteSource in = new ByteSource(map, 2, map.length - 2);
        while (in.remaining() > 0) {
            read.keys.add(in.readBytes(in.readVarint()));
            read.values.add(in.readBytes(in.readVarint()));
        }
        return read;
    }

    /** Sets the entry of that name; null removes it. */
    public void set(String name, byte @Nullable [] value) {
        final ByteSink sink = new ByteSink(32);
        final boolean unused = Codec.encodeValueType(name, sink);
        final byte[] key = sink.toBytes();
        int at = 0;
        while (at < keys.size() && !Arrays.equals(keys.get(at), key)) {
            at++;
        }
        if (value == null) {
            if (at < keys.size()) {
                keys.remove(at);
                values.remove(at);
            }
        } else if (at < keys.size()) {
            values.set(at, value);
        } else {
            keys.add(key);
            values.add(value);
        }
    }

    /** Its encoding. */
    public byte[] toBytes() {
        final ByteSink out = new ByteSink(256);
        out.write(Tag.COLLECTION);
        out.write(kind);
        for (int i = 0; i < keys.size(); i++) {
            element(keys.get(i), out);
            element(values.get(i), out);
        }
        return out.toBytes();
    }

    private static void element(byte[] bytes, ByteSink out) {
        final int at = out.claim(1);
        out.write(bytes, 0, bytes.length);
        out.setVarint(at);
    }
}
