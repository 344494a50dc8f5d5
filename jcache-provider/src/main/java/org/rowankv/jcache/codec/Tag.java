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
final class Tag {
    static final byte BYTES = 1;
    /** One byte per char; for strings whose chars are all below 256. */
    static final byte STRING_LATIN1 = 2;
    /** Two bytes per char; for all other strings, unpaired surrogates included. */
    static final byte STRING_UTF16 = 3;

    static final byte INTEGER = 4;
    static final byte LONG = 5;
    static final byte SHORT = 6;
    static final byte BYTE = 7;
    static final byte CHARACTER = 8;
    static final byte FALSE = 9;
    static final byte TRUE = 10;
    static final byte FLOAT = 11;
    static final byte DOUBLE = 12;
    static final byte UUID = 13;
    static final byte BIG_INTEGER = 14;
    static final byte BIG_DECIMAL = 15;
    static final byte DATE = 16;
    /** Class name and constant name, each as a short length and UTF-8. */
    static final byte ENUM = 17;

    static final byte INSTANT = 20;
    static final byte LOCAL_DATE = 21;
    static final byte LOCAL_TIME = 22;
    static final byte LOCAL_DATE_TIME = 23;
    static final byte ZONED_DATE_TIME = 24;
    static final byte OFFSET_DATE_TIME = 25;
    static final byte OFFSET_TIME = 26;
    static final byte DURATION = 27;
    static final byte PERIOD = 28;
    static final byte YEAR = 29;
    static final byte YEAR_MONTH = 30;
    static final byte MONTH_DAY = 31;
    static final byte ZONE_OFFSET = 32;

    // Composite keys. An element is a 4-byte length and the encoding of an object, or only NULL.

    static final byte NULL = 40;
    /** Elements in order. */
    static final byte LIST = 41;
    /** Elements in the order of their bytes. */
    static final byte SET = 42;
    /** A key and a value per entry, in the order of their bytes. */
    static final byte MAP = 43;
    /** A key and a value. */
    static final byte MAP_ENTRY = 44;
    /** No element, or one. */
    static final byte OPTIONAL = 45;
    /** Elements in order; the type of the array is not stored. */
    static final byte ARRAY = 46;
    /** The element type's descriptor as one byte, then the numbers. */
    static final byte PRIMITIVE_ARRAY = 47;
    /** A class name as a short length and UTF-8, then an element per field. */
    static final byte FIELDS = 48;
    /** A JDK type of {@link JdkFormat}: its number in one byte, then its content. */
    static final byte JDK = 49;

    // Values by the names of their fields. An element is a varint length and the encoding of an object, or only NULL.

    /** A 2-byte length and a header: class name and field names, each a short length and UTF-8; an element per field. */
    static final byte NAMED_FIELDS = 50;
    /** Its class as a number in one byte, then elements; a map's are keys and values in turn. */
    static final byte COLLECTION = 51;

    /** What a codec of the application has written. */
    static final byte CUSTOM = 52;

    /** A Java serialization stream. */
    static final byte SERIALIZED = 64;

    private Tag() {}
}
