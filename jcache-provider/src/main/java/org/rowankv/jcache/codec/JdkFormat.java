package org.rowankv.jcache.codec;

import java.lang.reflect.Array;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.BitSet;
import java.util.Currency;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Format of JDK value types and arrays of primitives that have no tag of their own. Each type's bytes follow its {@code equals}. Stateless.
 */
final class JdkFormat {
    private static final byte URI_TEXT = 1;
    private static final byte LANGUAGE_TAG = 2;
    private static final byte CURRENCY = 3;
    private static final byte ZONE_REGION = 4;
    private static final byte BITS = 5;
    private static final byte SQL_DATE = 6;
    private static final byte SQL_TIME = 7;
    private static final byte SQL_TIMESTAMP = 8;
    private static final byte CLASS_NAME = 9;

    /** java.sql is a module that an application may lack. */
    private static final boolean HAS_SQL =
            ModuleLayer.boot().findModule("java.sql").isPresent();

    private JdkFormat() {}

    /** Writes the object if it is of one of these types; returns whether it was. */
    static boolean write(Object value, ByteSink out) {
        if (value instanceof URI uri) {
            text(URI_TEXT, canonical(uri), out);
        } else if (value instanceof Locale locale) {
            if (!Locale.forLanguageTag(locale.toLanguageTag()).equals(locale)) {
                throw new KeyClassException(Locale.class, locale + " has no language tag");
            }
            text(LANGUAGE_TAG, locale.toLanguageTag(), out);
        } else if (value instanceof Currency currency) {
            text(CURRENCY, currency.getCurrencyCode(), out);
        } else if (value instanceof ZoneId zone) { // a ZoneOffset has a tag of its own
            text(ZONE_REGION, zone.getId(), out);
        } else if (value instanceof Class<?> type) {
            text(CLASS_NAME, type.getName(), out);
        } else if (value.getClass() == BitSet.class) {
            begin(BITS, out);
            for (long word : ((BitSet) value).toLongArray()) {
                out.writeLong(word);
            }
        } else {
            return HAS_SQL && writeSql(value, out);
        }
        return true;
    }

    private static boolean writeSql(Object value, ByteSink out) {
        if (value.getClass() == java.sql.Date.class) {
            begin(SQL_DATE, out);
            out.writeLong(((java.sql.Date) value).getTime());
        } else if (value.getClass() == Time.class) {
            begin(SQL_TIME, out);
            out.writeLong(((Time) value).getTime());
        } else if (value.getClass() == Timestamp.class) {
            begin(SQL_TIMESTAMP, out);
            out.writeLong(((Timestamp) value).getTime());
            out.writeInt(((Timestamp) value).getNanos());
        } else {
            return false;
        }
        return true;
    }

    private static void begin(byte number, ByteSink out) {
        out.write(Tag.JDK);
        out.write(number);
    }

    private static void text(byte number, String text, ByteSink out) {
        begin(number, out);
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
    }

    /** Equal URIs may differ in the case of scheme, host, and hexadecimal digits. */
    private static String canonical(URI uri) {
        final StringBuilder text = new StringBuilder();
        if (uri.getScheme() != null) {
            text.append(uri.getScheme().toLowerCase(Locale.ROOT)).append(':');
        }
        if (uri.isOpaque()) {
            text.append(uri.getRawSchemeSpecificPart());
        } else {
            if (uri.getHost() != null) {
                text.append("//");
                if (uri.getRawUserInfo() != null) {
                    text.append(uri.getRawUserInfo()).append('@');
                }
                text.append(uri.getHost().toLowerCase(Locale.ROOT));
                if (uri.getPort() >= 0) {
                    text.append(':').append(uri.getPort());
                }
            } else if (uri.getRawAuthority() != null) {
                text.append("//").append(uri.getRawAuthority());
            }
            text.append(uri.getRawPath());
            if (uri.getRawQuery() != null) {
                text.append('?').append(uri.getRawQuery());
            }
        }
        if (uri.getRawFragment() != null) {
            text.append('#').append(uri.getRawFragment());
        }
        for (int i = 0; i < text.length() - 2; i++) {
            if (text.charAt(i) == '%') {
                text.setCharAt(i + 1, Character.toUpperCase(text.charAt(i + 1)));
                text.setCharAt(i + 2, Character.toUpperCase(text.charAt(i + 2)));
            }
        }
        return text.toString();
    }

    static Object read(ByteSource in, LoaderReference loader, ClassRules rules) {
        final byte number = in.readByte();
        final Object read;
        try {
            read = switch (number) {
                case SQL_DATE -> new java.sql.Date(in.readLong());
                case SQL_TIME -> new Time(in.readLong());
                case SQL_TIMESTAMP -> timestamp(in.readLong(), in.readInt());
                case BITS -> bits(in);
                default ->
                    ofText(number, new String(in.readBytes(in.remaining()), StandardCharsets.UTF_8), loader, rules);
            };
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new MalformedBytesException("a stored JDK object of kind " + number + " has no valid content", e);
        }
        if (read == null) {
            throw new MalformedBytesException(
                    "a stored JDK object is of kind " + number + ", which this version does not support");
        }
        return read;
    }

    private static @Nullable Object ofText(byte number, String text, LoaderReference loader, ClassRules rules) {
        return switch (number) {
            case URI_TEXT -> URI.create(text);
            case LANGUAGE_TAG -> Locale.forLanguageTag(text);
            case CURRENCY -> Currency.getInstance(text);
            case ZONE_REGION -> ZoneId.of(text);
            case CLASS_NAME -> {
                final Class<?> primitive = primitiveOf(text);
                final Class<?> type = primitive == null ? loader.load(text) : primitive;
                rules.check(type);
                yield type;
            }
            default -> null;
        };
    }

    /** A class loader has none of these. */
    private static @Nullable Class<?> primitiveOf(String name) {
        for (char descriptor : new char[] {'J', 'D', 'I', 'F', 'S', 'C', 'Z', 'B'}) {
            if (componentOf(descriptor).getName().equals(name)) {
                return componentOf(descriptor);
            }
        }
        return name.equals("void") ? void.class : null;
    }

    private static Timestamp timestamp(long millis, int nanos) {
        final Timestamp timestamp = new Timestamp(millis);
        timestamp.setNanos(nanos);
        return timestamp;
    }

    private static BitSet bits(ByteSource in) {
        final long[] words = new long[in.remaining() / Long.BYTES];
        for (int i = 0; i < words.length; i++) {
            words[i] = in.readLong();
        }
        return BitSet.valueOf(words);
    }

    // --- arrays of primitives: the element type's descriptor, then the elements ---

    static void writeArray(Object array, ByteSink out) {
        out.write(array.getClass().descriptorString().charAt(1));
        for (int i = 0; i < Array.getLength(array); i++) {
            final Object each = Array.get(array, i);
            if (each instanceof Integer number) {
                out.writeInt(number);
            } else if (each instanceof Long number) {
                out.writeLong(number);
            } else if (each instanceof Double number) {
                out.writeLong(Double.doubleToLongBits(number));
            } else if (each instanceof Float number) {
                out.writeInt(Float.floatToIntBits(number));
            } else if (each instanceof Short number) {
                out.writeShort(number);
            } else if (each instanceof Character c) {
                out.writeShort(c);
            } else if (each instanceof Boolean flag) {
                out.write(flag ? 1 : 0);
            } else {
                out.write((Byte) each);
            }
        }
    }

    static Object readArray(ByteSource in) {
        final char type = (char) in.readByte();
        final int width = switch (type) {
            case 'J', 'D' -> Long.BYTES;
            case 'I', 'F' -> Integer.BYTES;
            case 'S', 'C' -> Short.BYTES;
            case 'Z', 'B' -> Byte.BYTES;
            default -> throw new MalformedBytesException("a stored array is of the unknown type " + type);
        };
        if (in.remaining() % width != 0) {
            throw new MalformedBytesException("the last element of a stored array is cut off");
        }
        final Object array = Array.newInstance(componentOf(type), in.remaining() / width);
        for (int i = 0; i < Array.getLength(array); i++) {
            switch (type) {
                case 'J' -> Array.setLong(array, i, in.readLong());
                case 'D' -> Array.setDouble(array, i, Double.longBitsToDouble(in.readLong()));
                case 'I' -> Array.setInt(array, i, in.readInt());
                case 'F' -> Array.setFloat(array, i, Float.intBitsToFloat(in.readInt()));
                case 'S' -> Array.setShort(array, i, in.readShort());
                case 'C' -> Array.setChar(array, i, (char) in.readShort());
                case 'Z' -> Array.setBoolean(array, i, in.readByte() != 0);
                default -> Array.setByte(array, i, in.readByte());
            }
        }
        return array;
    }

    private static Class<?> componentOf(char type) {
        return switch (type) {
            case 'J' -> long.class;
            case 'D' -> double.class;
            case 'I' -> int.class;
            case 'F' -> float.class;
            case 'S' -> short.class;
            case 'C' -> char.class;
            case 'Z' -> boolean.class;
            default -> byte.class;
        };
    }
}
