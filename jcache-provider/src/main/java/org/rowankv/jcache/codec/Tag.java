package org.rowankv.jcache.codec;

/**
 * First byte of every encoded key and value: the type of the content. Part of the format on disk: the meaning of a
 * number never changes, and a reader refuses unknown numbers.
 *
 * <pre>
 *   +-----+------------------------------------------+
 *   | tag | content, to the end of the stored bytes  |
 *   +-----+------------------------------------------+
 * </pre>
 *
 * <p>Numbers are big-endian. Every content but {@link #SERIALIZED} is canonical: equal objects have equal bytes.
 */
public final class Tag {
    public static final byte BYTES = 1;
    /** One byte per char; for strings whose chars are all below 256. */
    public static final byte STRING_LATIN1 = 2;
    /** Two bytes per char; for all other strings, unpaired surrogates included. */
    public static final byte STRING_UTF16 = 3;

    public static final byte INTEGER = 4;
    public static final byte LONG = 5;
    public static final byte SHORT = 6;
    public static final byte BYTE = 7;
    public static final byte CHARACTER = 8;
    public static final byte FALSE = 9;
    public static final byte TRUE = 10;
    public static final byte FLOAT = 11;
    public static final byte DOUBLE = 12;
    public static final byte UUID = 13;
    public static final byte BIG_INTEGER = 14;
    public static final byte BIG_DECIMAL = 15;
    public static final byte DATE = 16;
    /** Class name and constant name, each as a short length and UTF-8. */
    public static final byte ENUM = 17;

    public static final byte INSTANT = 20;
    public static final byte LOCAL_DATE = 21;
    public static final byte LOCAL_TIME = 22;
    public static final byte LOCAL_DATE_TIME = 23;
    public static final byte ZONED_DATE_TIME = 24;
    public static final byte OFFSET_DATE_TIME = 25;
    public static final byte OFFSET_TIME = 26;
    public static final byte DURATION = 27;
    public static final byte PERIOD = 28;
    public static final byte YEAR = 29;
    public static final byte YEAR_MONTH = 30;
    public static final byte MONTH_DAY = 31;
    public static final byte ZONE_OFFSET = 32;

    // Composite keys. An element is a 4-byte length and the encoding of an object, or only NULL.

    public static final byte NULL = 40;
    /** Elements in order. */
    public static final byte LIST = 41;
    /** Elements in the order of their bytes. */
    public static final byte SET = 42;
    /** A key and a value per entry, in the order of their bytes. */
    public static final byte MAP = 43;
    /** A key and a value. */
    public static final byte MAP_ENTRY = 44;
    /** No element, or one. */
    public static final byte OPTIONAL = 45;
    /** Elements in order; the type of the array is not stored. */
    public static final byte ARRAY = 46;
    /** The element type's descriptor as one byte, then the numbers. */
    public static final byte PRIMITIVE_ARRAY = 47;
    /** A class name as a short length and UTF-8, then an element per field. */
    public static final byte FIELDS = 48;
    /** A JDK type of {@link JdkFormat}: its number in one byte, then its content. */
    public static final byte JDK = 49;

    // Values by the names of their fields. An element is a varint length and the encoding of an object, or only NULL.

    /** A 2-byte length and a header: class name and field names, each a short length and UTF-8; an element per field. */
    public static final byte NAMED_FIELDS = 50;
    /** Its class as a number in one byte, then elements; a map's are keys and values in turn. */
    public static final byte COLLECTION = 51;

    /** The lowest number of a map's class in a COLLECTION. */
    public static final byte FIRST_MAP = 8;

    /** What a codec of the application has written. */
    public static final byte CUSTOM = 52;

    /** A Java serialization stream. */
    public static final byte SERIALIZED = 64;

    private Tag() {}
}
