package org.rowankv.jcache.codec.fields;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ByteSource;
import org.rowankv.jcache.codec.MalformedBytesException;
import org.rowankv.jcache.codec.Tag;

/**
 * A value that was stored by the names of its fields ({@link Tag#NAMED_FIELDS}), without its class. A field is the
 * encoding of an object; a changed copy keeps the bytes of all other fields. Immutable: the caller must not change the
 * array it was read from.
 */
public final class StoredObject {
    private final Header header;
    private final byte[] bytes;
    /** Of each field: where it begins, and behind its end. */
    private final int[] bounds;

    /** Class and field names, as objects of one class share them. */
    @SuppressWarnings("ArrayRecordComponent") // compared by content where it is compared
    public record Header(byte[] bytes, String className, List<String> names) {
        /** A header of these names, in this order. */
        public static Header of(String className, List<String> names) {
            final ByteSink sink = new ByteSink(64);
            writeName(className, sink);
            names.forEach(name -> writeName(name, sink));
            return new Header(sink.toBytes(), className, List.copyOf(names));
        }

        private static Header read(byte[] bytes, int from, int length) {
            final ByteSource in = new ByteSource(bytes, from, length);
            final String className = readName(in);
            final List<String> names = new ArrayList<>();
            while (in.remaining() > 0) {
                names.add(readName(in));
            }
            return new Header(Arrays.copyOfRange(bytes, from, from + length), className, List.copyOf(names));
        }

        private boolean isAt(byte[] other, int from, int length) {
            return Arrays.equals(bytes, 0, bytes.length, other, from, from + length);
        }
    }

    private StoredObject(Header header, byte[] bytes, int[] bounds) {
        this.header = header;
        this.bytes = bytes;
        this.bounds = bounds;
    }

    private static void writeName(String name, ByteSink sink) {
        final byte[] text = name.getBytes(StandardCharsets.UTF_8);
        sink.writeShort(text.length);
        sink.write(text, 0, text.length);
    }

    static String readName(ByteSource in) {
        return new String(in.readBytes(in.readShort() & 0xffff), StandardCharsets.UTF_8);
    }

    /** Whether the encoding of an object is of this form. */
    public static boolean isAt(byte[] bytes, int offset, int length) {
        return length > 0 && bytes[offset] == Tag.NAMED_FIELDS;
    }

    /**
     * Reads the object that is encoded in a range.
     *
     * @param likely its header if it is that of the last object, which saves reading it again
     */
    public static StoredObject read(byte[] bytes, int offset, int length, @Nullable Header likely) {
        final ByteSource in = new ByteSource(bytes, offset, length);
        if (in.readByte() != Tag.NAMED_FIELDS) {
            throw new MalformedBytesException("a stored value is not written by the names of its fields");
        }
        final int headerLength = in.readShort() & 0xffff;
        final int headerAt = in.skip(headerLength);
        final Header header = likely != null && likely.isAt(bytes, headerAt, headerLength)
                ? likely
                : Header.read(bytes, headerAt, headerLength);
        final int[] bounds = new int[2 * header.names.size()];
        for (int i = 0; i < bounds.length; i += 2) {
            final int count = in.readVarint();
            bounds[i] = in.skip(count);
            bounds[i + 1] = bounds[i] + count;
        }
        if (in.remaining() > 0) {
            throw new MalformedBytesException(in.remaining() + " bytes too many behind a stored object");
        }
        return new StoredObject(header, bytes, bounds);
    }

    /**
     * An object of these fields.
     *
     * @param fields their encodings, or null, in the order of the header's names
     */
    public static byte[] write(Header header, List<byte @Nullable []> fields) {
        final ByteSink out = new ByteSink(256);
        out.write(Tag.NAMED_FIELDS);
        out.writeShort(header.bytes.length);
        out.write(header.bytes, 0, header.bytes.length);
        for (byte @Nullable [] field : fields) {
            final int at = out.claim(1);
            if (field == null) {
                out.write(Tag.NULL);
            } else {
                out.write(field, 0, field.length);
            }
            out.setVarint(at);
        }
        return out.toBytes();
    }

    public Header header() {
        return header;
    }

    /** The place of the field of that name; -1 if there is none. */
    public int indexOf(String name) {
        return header.names.indexOf(name);
    }

    /** The array that contains the fields. */
    public byte[] bytes() {
        return bytes;
    }

    public int offset(int field) {
        return bounds[2 * field];
    }

    public int length(int field) {
        return bounds[2 * field + 1] - bounds[2 * field];
    }

    public boolean isNull(int field) {
        return length(field) == 1 && bytes[offset(field)] == Tag.NULL;
    }

    /** The encoding of the field, or null. */
    public byte @Nullable [] field(int field) {
        return isNull(field) ? null : Arrays.copyOfRange(bytes, bounds[2 * field], bounds[2 * field + 1]);
    }

    /** The encodings of all fields. */
    public List<byte @Nullable []> fields() {
        final List<byte @Nullable []> fields = new ArrayList<>(bounds.length / 2);
        for (int i = 0; i < bounds.length / 2; i++) {
            fields.add(field(i));
        }
        return fields;
    }
}
