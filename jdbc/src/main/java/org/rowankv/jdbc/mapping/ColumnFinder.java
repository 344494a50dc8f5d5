package org.rowankv.jdbc.mapping;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.Tag;
import org.rowankv.jcache.codec.fields.StoredJson;
import org.rowankv.jcache.codec.fields.StoredKey;
import org.rowankv.jcache.codec.fields.StoredObject;
import org.rowankv.jcache.configuration.CacheDescriptor;

/**
 * Finds the columns of a cache in entries, and in the application's classes where the class path has them; their code
 * does not run. Used by one thread at a time.
 */
public final class ColumnFinder {
    /** The column of the key. */
    public static final String KEY = "_KEY";

    /** The column of a value without fields. */
    public static final String VALUE = "_VALUE";

    private static final int MAX_DEPTH = 8;
    /** Levels of objects that only classes show: a class may contain itself. */
    private static final int MAX_DECLARED_DEPTH = 2;

    private static final int MAX_COLUMNS = 1_000;

    /** Null for a cache of a client without a codec, whose keys and values are any bytes. */
    private final @Nullable CacheDescriptor descriptor;

    private final @Nullable ClassLoader loader;
    private final Node key = new Node();
    /** Of keys that are objects: their class and number of fields; null if there was none. */
    private @Nullable String keyClass;

    private List<Node> keyParts = List.of();
    private boolean hasOtherKeys;
    private final Node value = new Node();
    private int entries;

    /** What was seen at one place of entries. */
    private static final class Node {
        private final Set<StoredType> types = EnumSet.noneOf(StoredType.class);
        private final List<StoredObject.Header> headers = new ArrayList<>();
        private final Set<String> headerNames = new HashSet<>();
        private final Set<String> enums = new LinkedHashSet<>();
        private final Map<String, Node> fields = new LinkedHashMap<>();
        private boolean hasNull;
        /** Whether the class says that the field is of a primitive type, or of none; null if it is not known. */
        private @Nullable Boolean primitive;

        Node field(String name) {
            return fields.computeIfAbsent(name, unused -> new Node());
        }

        void seePlain(byte[] bytes) {
            if (types.isEmpty()) {
                types.add(StoredType.PLAIN_TEXT);
            }
            if (PlainText.of(bytes, 0, bytes.length) == null) {
                types.clear();
                types.add(StoredType.PLAIN_BYTES);
            }
        }

        void see(byte[] bytes, int offset, int length, int depth) {
            final byte tag = bytes[offset];
            if (length == 1 && tag == Tag.NULL) {
                hasNull = true;
            } else if (CacheMapping.isObject(tag) && depth < MAX_DEPTH) {
                final StoredObject object = StoredObject.read(bytes, offset, length, null);
                add(object.header());
                for (int i = 0; i < object.header().names().size(); i++) {
                    field(object.header().names().get(i))
                            .see(object.bytes(), object.offset(i), object.length(i), depth + 1);
                }
            } else {
                types.add(CacheMapping.isObject(tag) ? StoredType.JSON : StoredType.ofTag(tag));
                if (tag == Tag.ENUM) {
                    enums.add(StoredJson.enumIn(bytes, offset, length));
                }
            }
        }

        /** Adds a header unless it is known. */
        void add(StoredObject.Header header) {
            if (headerNames.add(header.className() + header.names())) {
                headers.add(header);
            }
        }

        StoredType type() {
            if (!headers.isEmpty() || !fields.isEmpty()) {
                return StoredType.JSON; // beside other values
            }
            if (types.size() > 1 || enums.size() > 1) {
                return StoredType.MIXED;
            }
            return types.isEmpty() ? StoredType.UNKNOWN : types.iterator().next();
        }

        boolean isObject() {
            return !fields.isEmpty() && types.isEmpty();
        }
    }

    /**
     * @param descriptor null if the cache has none, since a client has made it that has no codec
     * @param loader of the application's classes, or null
     */
    public ColumnFinder(@Nullable CacheDescriptor descriptor, @Nullable ClassLoader loader) {
        this.descriptor = descriptor;
        this.loader = loader;
    }

    /** Takes an entry into account. */
    public void see(byte[] entryKey, byte[] entryValue) {
        entries++;
        if (descriptor == null) {
            key.seePlain(entryKey);
            value.seePlain(entryValue);
            return;
        }
        key.see(entryKey, 0, entryKey.length, MAX_DEPTH);
        seeParts(entryKey);
        value.see(entryValue, 0, entryValue.length, 0);
    }

    private void seeParts(byte[] entryKey) {
        if (entryKey[0] != Tag.FIELDS) {
            hasOtherKeys = true;
            return;
        }
        final StoredKey parts = StoredKey.read(entryKey);
        if (keyClass == null) {
            keyClass = parts.className();
            keyParts = Stream.generate(Node::new).limit(parts.size()).toList();
        }
        if (!keyClass.equals(parts.className()) || keyParts.size() != parts.size()) {
            hasOtherKeys = true;
            return;
        }
        for (int i = 0; i < parts.size(); i++) {
            keyParts.get(i).see(entryKey, parts.offset(i), parts.length(i), MAX_DEPTH);
        }
    }

    /** Whether no entry was seen. */
    public boolean isEmpty() {
        return entries == 0;
    }

    /** The columns that hold the entries seen. */
    public CacheMapping find() {
        if (descriptor == null && entries == 0) {
            return ofAnyBytes().find();
        }
        if (value.types.isEmpty()) {
            if (value.headers.isEmpty()) {
                final Class<?> declared = descriptor == null ? null : load(descriptor.valueType());
                if (declared != null) {
                    declare(value, declared);
                }
            }
            for (StoredObject.Header header : List.copyOf(value.headers)) {
                learn(value, header.className(), 0);
            }
        }
        final List<MappedColumn> columns = new ArrayList<>();
        final Map<List<String>, StoredObject.Header> headers = new HashMap<>();
        final Set<String> names = new HashSet<>();
        final List<MappedColumn> keys = keyColumns(names);
        if (value.isObject()) {
            flatten(value, List.of(), keys.size(), columns, headers, names);
        } else {
            columns.add(column(VALUE, keys.size(), List.of(), value, false, names));
        }
        final boolean hasParts = keyClass != null && !hasOtherKeys;
        return new CacheMapping(
                hasParts ? KeyForm.PARTS : KeyForm.SCALAR,
                hasParts && keyClass != null ? keyClass : "",
                keys,
                value.isObject() ? ValueForm.OBJECT : ValueForm.SCALAR,
                List.copyOf(columns),
                Map.copyOf(headers));
    }

    private static ColumnFinder ofAnyBytes() {
        final ColumnFinder finder = new ColumnFinder(null, null);
        finder.key.types.add(StoredType.PLAIN_BYTES);
        finder.value.types.add(StoredType.PLAIN_BYTES);
        finder.entries = 1;
        return finder;
    }

    /** The key, or its fields: by their names if it is a record of the class path, else by numbers. */
    private List<MappedColumn> keyColumns(Set<String> names) {
        final String declaredName = descriptor == null ? "" : descriptor.keyType();
        final Class<?> declared = load(keyClass == null ? declaredName : keyClass);
        final RecordComponent[] components =
                declared != null && declared.isRecord() ? declared.getRecordComponents() : new RecordComponent[0];
        if (entries == 0 && components.length > 0) {
            keyClass = declaredName;
            keyParts = Stream.generate(Node::new).limit(components.length).toList();
            for (int i = 0; i < components.length; i++) {
                declare(keyParts.get(i), components[i].getType());
            }
        }
        if (keyClass == null || hasOtherKeys) {
            if (entries == 0 && declared != null) {
                declare(key, declared);
            }
            return List.of(column(KEY, 0, List.of(), key, false, names));
        }
        final List<MappedColumn> keys = new ArrayList<>();
        for (int i = 0; i < keyParts.size(); i++) {
            final boolean isNamed = components.length == keyParts.size();
            final boolean nullable = isNamed ? !components[i].getType().isPrimitive() : keyParts.get(i).hasNull;
            keys.add(column(
                    isNamed ? components[i].getName() : KEY + '_' + (i + 1),
                    i,
                    List.of(),
                    keyParts.get(i),
                    nullable,
                    names));
        }
        return List.copyOf(keys);
    }

    private static void flatten(
            Node node,
            List<String> path,
            int firstPlace,
            List<MappedColumn> columns,
            Map<List<String>, StoredObject.Header> headers,
            Set<String> names) {
        if (node.headers.size() == 1) {
            headers.put(path, node.headers.get(0));
        }
        node.fields.forEach((name, field) -> {
            final List<String> fieldPath = CacheMapping.append(path, name);
            if (field.isObject()) {
                flatten(field, fieldPath, firstPlace, columns, headers, names);
            } else if (columns.size() < MAX_COLUMNS) {
                final boolean mayBePrimitive =
                        field.primitive != null ? field.primitive : field.type().mayBePrimitive() && !field.hasNull;
                columns.add(column(
                        String.join("_", fieldPath),
                        firstPlace + columns.size(),
                        fieldPath,
                        field,
                        !mayBePrimitive,
                        names));
            }
        });
    }

    private static MappedColumn column(
            String wanted, int place, List<String> path, Node node, boolean nullable, Set<String> names) {
        String name = wanted;
        for (int i = 2; !names.add(name.toUpperCase(Locale.ROOT)); i++) {
            name = wanted + '_' + i;
        }
        return new MappedColumn(
                name,
                place,
                path,
                node.type(),
                node.type().sqlType(),
                nullable,
                node.enums.isEmpty() ? "" : node.enums.iterator().next());
    }

    // --- what classes say ---

    /** The declared type, where no entry says more. */
    private void declare(Node node, Class<?> type) {
        if (!node.types.isEmpty() || !node.headers.isEmpty()) {
            return;
        }
        final StoredType known = StoredType.ofClass(type);
        if (known != StoredType.UNKNOWN) {
            node.types.add(known);
            if (type.isEnum()) {
                node.enums.add(type.getName());
            }
        } else if (type.isRecord() && node == value) {
            node.add(StoredObject.Header.of(
                    type.getName(),
                    Arrays.stream(type.getRecordComponents())
                            .map(RecordComponent::getName)
                            .toList()));
        }
    }

    /** The fields' types, where entries have only null or none, and whether they hold null. */
    private void learn(Node node, String className, int depth) {
        final Class<?> type = load(className);
        if (type == null || depth >= MAX_DEPTH) {
            return;
        }
        for (Class<?> each = type; each != null && each != Object.class; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0) {
                    learnField(node, field, depth);
                }
            }
        }
    }

    private void learnField(Node node, Field field, int depth) {
        if (!node.fields.containsKey(field.getName()) && !isNewest(node, field.getName())) {
            return; // a field that new objects do not have
        }
        final Node child = node.field(field.getName());
        final Class<?> type = field.getType();
        child.primitive = type.isPrimitive();
        if (!child.types.isEmpty()) {
            return;
        }
        if (child.headers.isEmpty()) {
            final StoredType known = StoredType.ofClass(type);
            if (known != StoredType.UNKNOWN) {
                child.types.add(known);
                if (type.isEnum()) {
                    child.enums.add(type.getName());
                }
            } else if (type.isRecord() && depth < MAX_DECLARED_DEPTH) {
                child.add(StoredObject.Header.of(
                        type.getName(),
                        Arrays.stream(type.getRecordComponents())
                                .map(RecordComponent::getName)
                                .toList()));
            }
        }
        for (StoredObject.Header header : List.copyOf(child.headers)) {
            learn(child, header.className(), depth + 1);
        }
    }

    private static boolean isNewest(Node node, String name) {
        return node.headers.stream().anyMatch(header -> header.names().contains(name));
    }

    private @Nullable Class<?> load(String className) {
        if (loader == null && !className.startsWith("java.")) {
            return null;
        }
        try {
            return className.equals("[B") ? byte[].class : Class.forName(className, false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            return null; // the entries themselves say what is needed
        }
    }
}
