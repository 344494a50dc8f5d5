package org.rowankv.jdbc.mapping;

import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.h2.engine.CastDataProvider;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueJson;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueVarbinary;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.Tag;
import org.rowankv.jcache.codec.fields.StoredJson;

/**
 * A column. Immutable.
 *
 * @param place in a row, from 0
 * @param path names of the fields that lead to it; empty: the whole key or value
 * @param sqlType as which its values are seen
 * @param nullable whether null may be written: a field of a primitive type holds none
 * @param enumClass of the constants of an ENUM; empty for other types
 */
public record MappedColumn(
        String name,
        int place,
        List<String> path,
        StoredType type,
        TypeInfo sqlType,
        boolean nullable,
        String enumClass) {
    /**
     * The SQL value of the object that is encoded in a range.
     *
     * @throws UnmappedException if it is of another type than those from which the column was found
     */
    public Value read(byte[] bytes, int offset, int length, Codec codec) {
        if (type.isPlain()) {
            return plain(bytes, offset, length);
        }
        final byte tag = bytes[offset];
        if (length == 1 && tag == Tag.NULL) {
            return ValueNull.INSTANCE;
        }
        return switch (type) {
            case JSON -> {
                final String text = StoredJson.of(bytes, offset, length, codec);
                yield text == null ? ValueNull.INSTANCE : ValueJson.fromJson(text);
            }
            case OPAQUE -> ValueVarbinary.get(Arrays.copyOfRange(bytes, offset, offset + length));
            case MIXED, UNKNOWN -> text(bytes, offset, length, codec);
            case ENUM -> {
                requireType(tag);
                yield ValueVarchar.get(StoredJson.constantIn(bytes, offset, length));
            }
            default -> {
                requireType(tag);
                final Value value = type.valueOf(codec.decode(bytes, offset, length));
                yield sqlType.equals(type.sqlType()) ? value : declared(value);
            }
        };
    }

    private Value plain(byte[] bytes, int offset, int length) {
        if (type == StoredType.PLAIN_BYTES) {
            return type.valueOf(Arrays.copyOfRange(bytes, offset, offset + length));
        }
        final String text = PlainText.of(bytes, offset, length);
        if (text == null) {
            throw new UnmappedException("the column " + name + " has text, and an entry has other bytes there");
        }
        return ValueVarchar.get(text);
    }

    private Value declared(Value value) {
        return sqlType.getValueType() == Value.NUMERIC
                ? ValueNumeric.getAnyScale(value.getBigDecimal().setScale(sqlType.getScale(), RoundingMode.HALF_UP))
                : value.convertTo(sqlType);
    }

    private void requireType(byte tag) {
        if (!type.hasTag(tag)) {
            throw new UnmappedException("the column " + name + " is of the type " + type + ", and an entry has a "
                    + StoredType.ofTag(tag) + " there");
        }
    }

    private static Value text(byte[] bytes, int offset, int length, Codec codec) {
        final String json = StoredJson.of(bytes, offset, length, codec);
        if (json == null) {
            return ValueNull.INSTANCE;
        }
        final byte tag = bytes[offset];
        final boolean isText = tag == Tag.STRING_LATIN1 || tag == Tag.STRING_UTF16;
        return ValueVarchar.get(isText ? (String) codec.decode(bytes, offset, length) : json);
    }

    /** The encoding of an SQL value; null for null. */
    public byte @Nullable [] write(Value value, CastDataProvider provider) {
        if (value.getValueType() == Value.NULL) {
            return null;
        }
        if (!type.isWritable()) {
            throw new IllegalArgumentException(
                    "the column " + name + " is read only: its values are of the kind " + type);
        }
        if (type.isPlain()) {
            return (byte[]) type.objectOf(value, provider);
        }
        final ByteSink sink = new ByteSink(32);
        if (type == StoredType.ENUM) {
            sink.write(Tag.ENUM);
            writeName(enumClass, sink);
            writeName(value.getString(), sink);
        } else if (!Codec.encodeValueType(type.objectOf(value, provider), sink)) {
            throw new IllegalArgumentException("the column " + name + " cannot be written");
        }
        return sink.toBytes();
    }

    private static void writeName(String text, ByteSink sink) {
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        sink.writeShort(bytes.length);
        sink.write(bytes, 0, bytes.length);
    }
}
