package org.rowankv.jdbc.mapping;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.h2.engine.CastDataProvider;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.Tag;
import org.rowankv.jcache.codec.fields.StoredKey;
import org.rowankv.jcache.codec.fields.StoredMap;
import org.rowankv.jcache.codec.fields.StoredObject;

/**
 * The columns of a cache: those of the key and those of the value. Reads entries as rows and makes entries from rows.
 * Immutable, thread-safe.
 *
 * @param keyClass of the object whose fields the key's columns are; empty for a list
 * @param headers of new objects, by the path to them; a missing one has no known class, so none can be made
 */
public record CacheMapping(
        KeyForm keyForm,
        String keyClass,
        List<MappedColumn> keys,
        ValueForm valueForm,
        List<MappedColumn> columns,
        Map<List<String>, StoredObject.Header> headers) {

    /** Whether equal SQL values have equal bytes in all columns of the key, so that it is found by these. */
    public boolean isFoundByKey() {
        return keys.stream().allMatch(key -> key.type().isKey());
    }

    /** The SQL values of an entry's key. */
    public void readKey(byte[] bytes, Value[] into, Codec codec) {
        if (keyForm == KeyForm.SCALAR) {
            into[keys.get(0).place()] = keys.get(0).read(bytes, 0, bytes.length, codec);
            return;
        }
        if (!StoredKey.isAt(bytes)) {
            throw new UnmappedException("an entry's key has no parts, as those of others have");
        }
        final StoredKey key = StoredKey.read(bytes);
        if (key.size() != keys.size() || !key.className().equals(keyClass)) {
            throw new UnmappedException("an entry's key has " + key.size() + " parts, and there are " + keys.size()
                    + " columns for those of " + (keyClass.isEmpty() ? "a list" : keyClass));
        }
        for (int i = 0; i < keys.size(); i++) {
            into[keys.get(i).place()] = keys.get(i).read(bytes, key.offset(i), key.length(i), codec);
        }
    }

    /** The encoding of the key of a row; null if it has none. */
    public byte @Nullable [] newKey(Value[] row, CastDataProvider provider) {
        if (keyForm == KeyForm.SCALAR) {
            return keys.get(0).write(row[keys.get(0).place()], provider);
        }
        final List<byte @Nullable []> parts = new ArrayList<>(keys.size());
        for (MappedColumn key : keys) {
            parts.add(key.write(row[key.place()], provider));
        }
        return StoredKey.write(keyClass, parts);
    }

    /** The SQL values of an entry's value. */
    public void readValue(byte[] bytes, Value[] into, Codec codec) {
        if (valueForm == ValueForm.SCALAR) {
            into[columns.get(0).place()] = columns.get(0).read(bytes, 0, bytes.length, codec);
            return;
        }
        columns.forEach(column -> into[column.place()] = ValueNull.INSTANCE);
        if (valueForm == ValueForm.MAP) {
            if (!StoredMap.isAt(bytes)) {
                throw new UnmappedException("an entry's value is no map");
            }
            StoredMap.visit(
                    bytes, codec, (name, map, offset, length) -> readEntry(name, map, offset, length, into, codec));
        } else if (StoredObject.isAt(bytes, 0, bytes.length)) {
            readFields(StoredObject.read(bytes, 0, bytes.length, headers.get(List.of())), List.of(), into, codec);
        } else {
            throw new UnmappedException("an entry's value is no object with fields, as those of others are");
        }
    }

    private void readEntry(String name, byte[] map, int offset, int length, Value[] into, Codec codec) {
        for (MappedColumn column : columns) {
            if (column.name().equals(name)) {
                into[column.place()] = column.read(map, offset, length, codec);
            }
        }
    }

    private void readFields(StoredObject object, List<String> path, Value[] into, Codec codec) {
        final List<String> names = object.header().names();
        for (int i = 0; i < names.size(); i++) {
            final List<String> fieldPath = append(path, names.get(i));
            final int column = indexOf(fieldPath);
            if (column >= 0) {
                into[columns.get(column).place()] =
                        columns.get(column).read(object.bytes(), object.offset(i), object.length(i), codec);
            } else if (StoredObject.isAt(object.bytes(), object.offset(i), object.length(i))) {
                final StoredObject inner =
                        StoredObject.read(object.bytes(), object.offset(i), object.length(i), headers.get(fieldPath));
                readFields(inner, fieldPath, into, codec);
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
    public byte[] newValue(Value[] row, CastDataProvider provider) {
        return switch (valueForm) {
            case SCALAR -> scalar(row, provider);
            case MAP -> changedMap(StoredMap.empty(), null, row, provider);
            case OBJECT -> {
                byte[] object = empty(List.of());
                for (MappedColumn column : columns) {
                    final byte[] encoded = column.write(row[column.place()], provider);
                    if (encoded != null) {
                        object = with(object, column.path(), 0, encoded);
                    }
                }
                yield object;
            }
        };
    }

    /**
     * The encoding of a stored value in which the columns that differ are changed. All other bytes stay as they are.
     *
     * @param before the row as it was read from the value
     */
    public byte[] changedValue(byte[] stored, Value[] before, Value[] after, CastDataProvider provider) {
        if (valueForm == ValueForm.MAP) {
            return changedMap(StoredMap.read(stored), before, after, provider);
        }
        byte[] object = stored;
        for (MappedColumn column : columns) {
            if (!before[column.place()].equals(after[column.place()])) {
                object = valueForm == ValueForm.SCALAR
                        ? scalar(after, provider)
                        : with(object, column.path(), 0, column.write(after[column.place()], provider));
            }
        }
        return object;
    }

    private byte[] scalar(Value[] row, CastDataProvider provider) {
        final byte[] encoded = columns.get(0).write(row[columns.get(0).place()], provider);
        if (encoded == null) {
            throw new IllegalArgumentException("a value of a cache is not null");
        }
        return encoded;
    }

    private byte[] changedMap(StoredMap map, Value @Nullable [] before, Value[] after, CastDataProvider provider) {
        for (MappedColumn column : columns) {
            if (before == null || !before[column.place()].equals(after[column.place()])) {
                map.set(column.name(), column.write(after[column.place()], provider));
            }
        }
        return map.toBytes();
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
