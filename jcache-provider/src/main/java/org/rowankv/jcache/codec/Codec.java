package org.rowankv.jcache.codec;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.Arrays;
import java.util.Date;
import java.util.UUID;
import java.util.function.Predicate;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.custom.ValueCodec;

/**
 * Encoder and decoder of keys and values. A decoded object is a copy; its classes come from the class loader of the
 * cache's manager.
 *
 * <p>Equal objects of types with their own {@link Tag} have equal bytes. Other values are written by the names of their
 * fields where that keeps everything ({@link NamedFieldsFormat}), else in Java serialization; other keys as the cache's {@link KeyFormat} says. In Java serialization an object may have several encodings, so a lookup by
 * it as a key may fail ({@link #isCanonical}). Thread-safe.
 */
public final class Codec {
    private final LoaderReference loader;
    private final SerializedFormat serialized;
    private final StructuralFormat structural;
    private final NamedFieldsFormat named;
    private final KeyFormat keyFormat;
    private final boolean valuesByName;
    private final ClassRules rules;
    private final @Nullable ValueCodec custom;

    /** @param valuesByName whether values are written by the names of their fields where possible */
    public Codec(LoaderReference loader, ClassRules rules, KeyFormat keyFormat, boolean valuesByName) {
        this(loader, rules, keyFormat, valuesByName, null);
    }

    /** As above, with a codec of the application for the values that it takes. */
    public Codec(
            LoaderReference loader,
            ClassRules rules,
            KeyFormat keyFormat,
            boolean valuesByName,
            @Nullable ValueCodec custom) {
        this.rules = rules;
        this.custom = custom;
        this.loader = loader;
        this.serialized = new SerializedFormat(loader, rules);
        this.structural = new StructuralFormat(this, loader, rules);
        this.named = new NamedFieldsFormat(this, loader, rules);
        this.keyFormat = keyFormat;
        this.valuesByName = valuesByName;
    }

    /** Appends the value's bytes; on failure only the sink has changed. */
    public void encode(Object value, ByteSink out) {
        if (encodeValueType(value, out)) {
            return;
        }
        if (custom != null && takes(custom, value.getClass())) {
            writeCustom(custom, value, out);
        } else if (!valuesByName || !named.write(value, out)) {
            serialized.write(value, out);
        }
    }

    private static boolean takes(ValueCodec codec, Class<?> type) {
        try {
            return codec.takes(type);
        } catch (RuntimeException | LinkageError e) {
            throw new CacheException("the codec " + codec.name() + " fails for " + type + ", and nothing is stored", e);
        }
    }

    private void writeCustom(ValueCodec codec, Object value, ByteSink out) {
        rules.checkWithJvmFilter(value.getClass());
        out.write(Tag.CUSTOM);
        final AskedRules allowed = new AskedRules(rules);
        try {
            codec.encode(value, out, loader.get(), allowed);
        } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
            throw allowed.explain(new CacheException(
                    "an object of " + value.getClass() + " cannot be written by the codec " + codec.name()
                            + ", and is not stored: " + e.getMessage(),
                    e));
        }
    }

    private Object readCustom(byte[] bytes, int offset, int length) {
        if (custom == null) {
            throw new MalformedBytesException("a stored value was written by a codec that this cache does not have");
        }
        final AskedRules allowed = new AskedRules(rules);
        try {
            final Object value = custom.decode(new ByteArrayInputStream(bytes, offset, length), loader.get(), allowed);
            if (value == null) {
                throw new MalformedBytesException("the codec " + custom.name() + " has read null");
            }
            rules.checkWithJvmFilter(value.getClass()); // a codec may have forgotten to ask
            return value;
        } catch (ClassNotFoundException | LinkageError e) {
            throw allowed.explain(loader.missing(String.valueOf(e.getMessage()), e));
        } catch (CacheException e) {
            throw allowed.explain(e);
        } catch (IOException | RuntimeException | StackOverflowError e) {
            throw allowed.explain(new MalformedBytesException(
                    "a stored value cannot be read by the codec " + custom.name() + ": " + e.getMessage(), e));
        }
    }

    /** The rules as a codec asks them during one call; remembers a refusal, which says what to do. */
    private static final class AskedRules implements Predicate<Class<?>> {
        private final ClassRules rules;
        private @Nullable ClassNotAllowedException refusal;

        AskedRules(ClassRules rules) {
            this.rules = rules;
        }

        @Override
        public boolean test(Class<?> type) {
            try {
                rules.checkWithJvmFilter(type);
                return true;
            } catch (ClassNotAllowedException e) {
                refusal = e;
                return false;
            }
        }

        CacheException explain(CacheException failure) {
            return refusal == null ? failure : refusal;
        }
    }

    /**
     * Appends the key's bytes; on failure only the sink has changed.
     *
     * @throws KeyClassException if equal keys of the class may have different bytes
     */
    public void encodeKey(Object key, ByteSink out) {
        if (encodeValueType(key, out)) {
            return;
        }
        if (keyFormat == KeyFormat.STRUCTURAL) {
            structural.write(key, out);
        } else {
            serialized.write(key, out);
        }
    }

    /** Appends the bytes of an object whose type has its own tag; returns whether it is such an object. */
    public static boolean encodeValueType(Object value, ByteSink out) {
        final Class<?> type = value.getClass();
        if (type == String.class) {
            StringFormat.write((String) value, out);
        } else if (type == byte[].class) {
            final byte[] bytes = (byte[]) value;
            out.write(Tag.BYTES);
            out.write(bytes, 0, bytes.length);
        } else if (type == Long.class) {
            out.write(Tag.LONG);
            out.writeLong((Long) value);
        } else if (type == Integer.class) {
            out.write(Tag.INTEGER);
            out.writeInt((Integer) value);
        } else {
            return encodeSmall(value, type, out) || encodeJdk(value, type, out);
        }
        return true;
    }

    private static boolean encodeSmall(Object value, Class<?> type, ByteSink out) {
        if (type == Boolean.class) {
            out.write((Boolean) value ? Tag.TRUE : Tag.FALSE);
        } else if (type == Double.class) {
            out.write(Tag.DOUBLE);
            out.writeLong(Double.doubleToLongBits((Double) value));
        } else if (type == Float.class) {
            out.write(Tag.FLOAT);
            out.writeInt(Float.floatToIntBits((Float) value));
        } else if (type == Short.class) {
            out.write(Tag.SHORT);
            out.writeShort((Short) value);
        } else if (type == Byte.class) {
            out.write(Tag.BYTE);
            out.write((Byte) value);
        } else if (type == Character.class) {
            out.write(Tag.CHARACTER);
            out.writeShort((Character) value);
        } else {
            return false;
        }
        return true;
    }

    private static boolean encodeJdk(Object value, Class<?> type, ByteSink out) {
        if (type == UUID.class) {
            final UUID uuid = (UUID) value;
            out.write(Tag.UUID);
            out.writeLong(uuid.getMostSignificantBits());
            out.writeLong(uuid.getLeastSignificantBits());
        } else if (type == BigInteger.class) {
            out.write(Tag.BIG_INTEGER);
            final byte[] magnitude = ((BigInteger) value).toByteArray();
            out.write(magnitude, 0, magnitude.length);
        } else if (type == BigDecimal.class) {
            final BigDecimal decimal = (BigDecimal) value;
            out.write(Tag.BIG_DECIMAL);
            out.writeInt(decimal.scale());
            final byte[] unscaled = decimal.unscaledValue().toByteArray();
            out.write(unscaled, 0, unscaled.length);
        } else if (type == Date.class) {
            out.write(Tag.DATE);
            out.writeLong(((Date) value).getTime());
        } else if (value instanceof Enum<?> constant) {
            out.write(Tag.ENUM);
            writeName(constant.getDeclaringClass().getName(), out);
            writeName(constant.name(), out);
        } else {
            return TimeFormat.write(value, out);
        }
        return true;
    }

    static void writeName(String name, ByteSink out) {
        final byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        out.writeShort(bytes.length);
        out.write(bytes, 0, bytes.length);
    }

    /** Whether equal objects of the value's class have equal bytes. */
    public static boolean isCanonical(byte[] encoded, int offset) {
        return encoded[offset] != Tag.SERIALIZED;
    }

    /** Decodes a key; does not keep the array. */
    public <K> K decodeKey(byte[] bytes, int offset, int length, Class<K> type) {
        final Object key = decode(bytes, offset, length);
        if (type.isInstance(key)) {
            return type.cast(key);
        }
        final Object fitting = ClassPlan.arrayOf(type, key);
        if (!type.isInstance(fitting)) {
            throw new MalformedBytesException(
                    "a stored key is a " + key.getClass().getName() + ", and the cache's keys are " + type.getName()
                            + ": lists, sets and maps come back as ArrayList, LinkedHashSet and LinkedHashMap");
        }
        return type.cast(fitting);
    }

    /** Decodes an object; does not keep the array. */
    public Object decode(byte[] bytes, int offset, int length) {
        return length > 0 && bytes[offset] >= Tag.LIST
                ? decodeComposite(bytes, offset, length)
                : decodeValueType(bytes, offset, length);
    }

    private Object decodeComposite(byte[] bytes, int offset, int length) {
        final byte tag = bytes[offset];
        if (StructuralFormat.isStructural(tag)) {
            return structural.read(tag, new ByteSource(bytes, offset + 1, length - 1));
        }
        if (NamedFieldsFormat.isNamed(tag)) {
            return named.read(bytes, offset, length);
        }
        return switch (tag) {
            case Tag.CUSTOM -> readCustom(bytes, offset + 1, length - 1);
            case Tag.SERIALIZED -> serialized.read(bytes, offset + 1, length - 1);
            default -> decodeValueType(bytes, offset, length); // which refuses it
        };
    }

    /** Decodes an object whose type has its own tag. */
    Object decodeValueType(byte[] bytes, int offset, int length) {
        if (length < 1) {
            throw new MalformedBytesException("an encoded object has at least one byte");
        }
        final byte tag = bytes[offset];
        return switch (tag) {
            case Tag.BYTES -> Arrays.copyOfRange(bytes, offset + 1, offset + length);
            case Tag.STRING_LATIN1 -> StringFormat.readLatin1(bytes, offset + 1, length - 1);
            case Tag.STRING_UTF16 -> StringFormat.readUtf16(bytes, offset + 1, length - 1);
            default -> decodeValue(tag, new ByteSource(bytes, offset + 1, length - 1));
        };
    }

    private Object decodeValue(byte tag, ByteSource in) {
        try {
            final Object small = decodeSmall(tag, in);
            final Object value = small != null ? small : TimeFormat.read(tag, in);
            if (value == null) {
                throw new MalformedBytesException(
                        "stored bytes begin with the tag " + tag + ", which this version does not support");
            }
            if (in.remaining() != 0) {
                throw new MalformedBytesException(
                        in.remaining() + " bytes too many behind an encoded " + value.getClass());
            }
            return value;
        } catch (DateTimeException | NumberFormatException e) {
            throw new MalformedBytesException("stored bytes with the tag " + tag + " are no object of that type", e);
        }
    }

    private @Nullable Object decodeSmall(byte tag, ByteSource in) {
        return switch (tag) {
            case Tag.LONG -> in.readLong();
            case Tag.INTEGER -> in.readInt();
            case Tag.TRUE -> Boolean.TRUE;
            case Tag.FALSE -> Boolean.FALSE;
            case Tag.DOUBLE -> Double.longBitsToDouble(in.readLong());
            case Tag.FLOAT -> Float.intBitsToFloat(in.readInt());
            case Tag.SHORT -> in.readShort();
            case Tag.BYTE -> in.readByte();
            case Tag.CHARACTER -> (char) in.readShort();
            case Tag.UUID -> new UUID(in.readLong(), in.readLong());
            case Tag.BIG_INTEGER -> new BigInteger(in.readBytes(in.remaining()));
            case Tag.BIG_DECIMAL -> decodeDecimal(in);
            case Tag.DATE -> new Date(in.readLong());
            case Tag.ENUM -> decodeEnum(in);
            default -> null;
        };
    }

    private static BigDecimal decodeDecimal(ByteSource in) {
        final int scale = in.readInt();
        return new BigDecimal(new BigInteger(in.readBytes(in.remaining())), scale);
    }

    private Object decodeEnum(ByteSource in) {
        final String className = readName(in);
        final String constant = readName(in);
        final Class<?> type = loader.load(className);
        if (!type.isEnum()) {
            throw new MalformedBytesException(
                    "the class " + className + " of a stored enum constant is no enum any more");
        }
        for (Object candidate : type.getEnumConstants()) {
            if (((Enum<?>) candidate).name().equals(constant)) {
                return candidate;
            }
        }
        throw new MalformedBytesException("the enum " + className + " has no constant " + constant + " any more");
    }

    static String readName(ByteSource in) {
        return new String(in.readBytes(in.readShort() & 0xffff), StandardCharsets.UTF_8);
    }
}
