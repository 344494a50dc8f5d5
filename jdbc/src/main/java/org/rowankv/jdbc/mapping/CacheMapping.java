package org.rowankv.jdbc.mapping;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.h2.engine.CastDataProvider;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.Tag;
import org.rowankv.jcache.codec.fields.StoredObject;

/**
 * The columns of a cache: the key, then those of the value. Reads entries as rows and makes values from rows. Immutable,
 * thread-safe.
 *
 * @param isScalar whether a value is one column, not an object with fields
 * @param headers of new objects, by the path to them; a missing one has no known class, so none can be made
 */
public record CacheMapping(
        MappedColumn key,
        List<MappedColumn> columns,
        boolean isScalar,
        Map<List<String>, StoredObject.Header> headers) {

    /** The SQL values of an entry's value. */
    public void readValue(byte[] bytes, Value[] into, int from, Codec codec) {
        if (isScalar) {
            into[from] = columns.get(0).read(bytes, 0, bytes.length, codec);
            return;
        }
        if (!StoredObject.isAt(bytes, 0, bytes.length)) {
            throw new UnmappedException("an entry's value is no object with fields, as those of others are");
        }
        Arrays.fill(into, from, from + columns.size(), ValueNull.INSTANCE);
        readFields(StoredObject.read(bytes, 0, bytes.length, headers.get(List.of())), List.of(), into, from, codec);
    }

    private void readFields(StoredObject object, List<String> path, Value[] into, int from, Codec codec) {
        final List<String> names = object.header().names();
        for (int i = 0; i < names.size(); i++) {
            final List<String> fieldPath = append(path, names.get(i));
            final int column = indexOf(fieldPath);
            if (column >= 0) {
                into[from + column] =
                        columns.get(column).read(object.bytes(), object.offset(i), object.length(i), codec);
            } else if (StoredObject.isAt(object.bytes(), object.offset(i), object.length(i))) {
                final StoredObject inner =
                        StoredObject.read(object.bytes(), object.offset(i), object.length(i), headers.get(fieldPath));
                readFields(inner, fieldPath, into, from, codec);
            } else if (!object.isNull(i)) {
                throw new UnmappedException(
                        "an entry has the field " + String.join(".", fieldPath) + ", for which there is no column yet");
            }
        }
    }

    private int indexOf(List<String> path) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).path().equals(path)) {
                return i;
            }
        }
        return -1;
    }

    static List<String> append(List<String> path, String name) {
        final List<String> longer = new ArrayList<>(path);
        longer.add(name);
        return Collections.unmodifiableList(longer);
    }

    /** The encoding of a new value. */
    public byte[] newValue(Value[] row, int from, CastDataProvider provider) {
        if (isScalar) {
            final byte[] encoded = columns.get(0).write(row[from], provider);
            if (encoded == null) {
                throw new IllegalArgumentException("a value of a cache is not null");
            }
            return encoded;
        }
        byte[] object = empty(List.of());
        for (int i = 0; i < columns.size(); i++) {
            final MappedColumn column = columns.get(i);
            final byte[] encoded = column.write(row[from + i], provider);
            if (encoded != null) {
                object = with(object, column.path(), 0, encoded);
            }
        }
        return object;
    }

    /**
     * The encoding of a stored value in which the columns that differ are changed. All other bytes stay as they are.
     *
     * @param before the row as it was read from the value
     */
    public byte[] changedValue(byte[] stored, Value[] before, Value[] after, int from, CastDataProvider provider) {
        byte[] object = stored;
        for (int i = 0; i < columns.size(); i++) {
            if (before[from + i].equals(after[from + i])) {
                continue;
            }
            final byte[] encoded = columns.get(i).write(after[from + i], provider);
            if (!isScalar) {
                object = with(object, columns.get(i).path(), 0, encoded);
            } else if (encoded == null) {
                throw new IllegalArgumentException("a value of a cache is not null");
            } else {
                object = encoded;
            }
        }
        return object;
    }

    private byte[] empty(List<String> path) {
        final StoredObject.Header header = headers.get(path);
        if (header == null) {
            throw new IllegalArgumentException("the class of "
                    + (path.isEmpty() ? "the cache's values" : "the field " + String.join(".", path))
                    + " is not known, since the entries read have none or several: write one with the cache API first");
        }
        return StoredObject.write(header, Collections.nCopies(header.names().size(), null));
    }

    private byte[] with(byte[] encoded, List<String> path, int depth, byte @Nullable [] field) {
        final StoredObject object = StoredObject.read(encoded, 0, encoded.length, headers.get(path.subList(0, depth)));
        final int index = object.indexOf(path.get(depth));
        if (index < 0) {
            if (field == null) {
                return encoded;
            }
            throw new IllegalArgumentException(
                    "an entry's object of " + object.header().className() + " has no field " + path.get(depth)
                            + "; write it with the cache API");
        }
        final List<byte @Nullable []> fields = object.fields();
        if (depth == path.size() - 1) {
            fields.set(index, field);
        } else {
            byte[] inner = fields.get(index);
            if (inner == null) {
                if (field == null) {
                    return encoded;
                }
                inner = empty(path.subList(0, depth + 1));
            }
            fields.set(index, with(inner, path, depth + 1, field));
        }
        return StoredObject.write(object.header(), fields);
    }

    /** Whether the tag begins an object with fields. */
    static boolean isObject(byte tag) {
        return tag == Tag.NAMED_FIELDS;
    }
}
