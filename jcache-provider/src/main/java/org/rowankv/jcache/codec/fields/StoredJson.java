package org.rowankv.jcache.codec.fields;

import java.lang.reflect.Array;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSource;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.Tag;

/**
 * A stored value as JSON text, without its classes: objects by field names, collections as arrays, maps as objects. Used
 * by one thread, for one value.
 */
public final class StoredJson {
    private static final int MAX_DEPTH = 64;

    private final Codec codec;
    private final StringBuilder text = new StringBuilder();

    private StoredJson(Codec codec) {
        this.codec = codec;
    }

    /**
     * The text of the object that is encoded in a range.
     *
     * @param codec for values without classes of the application
     * @return null if some part needs its class
     */
    public static @Nullable String of(byte[] bytes, int offset, int length, Codec codec) {
        final StoredJson json = new StoredJson(codec);
        return json.append(bytes, offset, length, 0) ? json.text.toString() : null;
    }

    private boolean append(byte[] bytes, int offset, int length, int depth) {
        if (length < 1 || depth > MAX_DEPTH) {
            return false;
        }
        return switch (bytes[offset]) {
            case Tag.NULL -> {
                text.append("null");
                yield true;
            }
            case Tag.NAMED_FIELDS -> appendObject(StoredObject.read(bytes, offset, length, null), depth);
            case Tag.COLLECTION -> appendCollection(new ByteSource(bytes, offset + 1, length - 1), depth);
            case Tag.ENUM -> {
                quote(constantIn(bytes, offset, length));
                yield true;
            }
            case Tag.SERIALIZED, Tag.CUSTOM, Tag.JDK, Tag.FIELDS -> false;
            default -> appendScalar(codec.decode(bytes, offset, length));
        };
    }

    /** The name of the enum's constant that is encoded in a range. */
    public static String constantIn(byte[] bytes, int offset, int length) {
        final ByteSource in = new ByteSource(bytes, offset + 1, length - 1);
        final String unused = StoredObject.readName(in);
        return StoredObject.readName(in);
    }

    /** The class name of the enum's constant that is encoded in a range. */
    public static String enumIn(byte[] bytes, int offset, int length) {
        return StoredObject.readName(new ByteSource(bytes, offset + 1, length - 1));
    }

    private boolean appendObject(StoredObject object, int depth) {
        text.append('{');
        for (int i = 0; i < object.header().names().size(); i++) {
            if (i > 0) {
                text.append(',');
            }
            quote(object.header().names().get(i));
            text.append(':');
            if (!append(object.bytes(), object.offset(i), object.length(i), depth + 1)) {
                return false;
            }
        }
        text.append('}');
        return true;
    }

    private boolean appendCollection(ByteSource in, int depth) {
        final boolean isMap = in.readByte() >= Tag.FIRST_MAP;
        text.append(isMap ? '{' : '[');
        for (int i = 0; in.remaining() > 0; i++) {
            final boolean isKey = isMap && i % 2 == 0;
            if (i > 0) {
                text.append(isMap && !isKey ? ':' : ',');
            }
            final int count = in.readVarint();
            final int at = in.skip(count);
            if (isKey ? !appendKey(in.bytes(), at, count, depth) : !append(in.bytes(), at, count, depth + 1)) {
                return false;
            }
        }
        text.append(isMap ? '}' : ']');
        return true;
    }

    /** A key is text, or the text of its JSON. */
    private boolean appendKey(byte[] bytes, int offset, int length, int depth) {
        final StoredJson key = new StoredJson(codec);
        if (!key.append(bytes, offset, length, depth + 1)) {
            return false;
        }
        if (key.text.charAt(0) == '"') {
            text.append(key.text);
        } else {
            quote(key.text.toString());
        }
        return true;
    }

    private boolean appendScalar(Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            final boolean isNoNumber =
                    value instanceof Double d && !Double.isFinite(d) || value instanceof Float f && !Float.isFinite(f);
            if (isNoNumber) {
                quote(value.toString());
            } else {
                text.append(value);
            }
        } else if (value instanceof byte[] bytes) {
            quote(Base64.getEncoder().encodeToString(bytes));
        } else if (value.getClass().isArray()) {
            text.append('[');
            for (int i = 0; i < Array.getLength(value); i++) {
                text.append(i > 0 ? "," : "");
                final boolean unused = appendScalar(Array.get(value, i));
            }
            text.append(']');
        } else {
            quote(value.toString());
        }
        return true;
    }

    private void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            final char c = value.charAt(i);
            switch (c) {
                case '"', '\\' -> text.append('\\').append(c);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (c < ' ' || Character.isSurrogate(c)) {
                        text.append(String.format("\\u%04x", (int) c));
                    } else {
                        text.append(c);
                    }
                }
            }
        }
        text.append('"');
    }
}
