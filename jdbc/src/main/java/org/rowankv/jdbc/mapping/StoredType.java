package org.rowankv.jdbc.mapping;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.h2.engine.CastDataProvider;
import org.h2.engine.Constants;
import org.h2.util.JSR310Utils;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueDouble;
import org.h2.value.ValueInteger;
import org.h2.value.ValueJson;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueReal;
import org.h2.value.ValueSmallint;
import org.h2.value.ValueTinyint;
import org.h2.value.ValueUuid;
import org.h2.value.ValueVarbinary;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.Tag;

/** How the stored objects of one kind are SQL values, and back. */
public enum StoredType {
    STRING(String.class, TypeInfo.TYPE_VARCHAR, v -> ValueVarchar.get((String) v), (v, p) -> v.getString(), true),
    CHARACTER(
            Character.class,
            TypeInfo.getTypeInfo(Value.VARCHAR, 1, -1, null),
            v -> ValueVarchar.get(String.valueOf(v)),
            (v, p) -> oneChar(v.getString()),
            true),
    BOOLEAN(Boolean.class, TypeInfo.TYPE_BOOLEAN, v -> ValueBoolean.get((Boolean) v), (v, p) -> v.getBoolean(), true),
    BYTE(Byte.class, TypeInfo.TYPE_TINYINT, v -> ValueTinyint.get((Byte) v), (v, p) -> v.getByte(), true),
    SHORT(Short.class, TypeInfo.TYPE_SMALLINT, v -> ValueSmallint.get((Short) v), (v, p) -> v.getShort(), true),
    INTEGER(Integer.class, TypeInfo.TYPE_INTEGER, v -> ValueInteger.get((Integer) v), (v, p) -> v.getInt(), true),
    LONG(Long.class, TypeInfo.TYPE_BIGINT, v -> ValueBigint.get((Long) v), (v, p) -> v.getLong(), true),
    /** Numbers with a fraction are no keys: SQL takes more of them for equal than bytes are. */
    FLOAT(Float.class, TypeInfo.TYPE_REAL, v -> ValueReal.get((Float) v), (v, p) -> v.getFloat(), false),
    DOUBLE(Double.class, TypeInfo.TYPE_DOUBLE, v -> ValueDouble.get((Double) v), (v, p) -> v.getDouble(), false),
    BIG_INTEGER(
            BigInteger.class,
            TypeInfo.getTypeInfo(Value.NUMERIC, Constants.MAX_NUMERIC_PRECISION, 0, null),
            v -> ValueNumeric.get((BigInteger) v),
            (v, p) -> v.getBigDecimal().toBigIntegerExact(),
            true),
    BIG_DECIMAL(
            BigDecimal.class,
            TypeInfo.getTypeInfo(Value.DECFLOAT, Constants.MAX_NUMERIC_PRECISION, -1, null),
            v -> ValueDecfloat.get((BigDecimal) v),
            (v, p) -> v.getBigDecimal(),
            false),
    BYTES(byte[].class, TypeInfo.TYPE_VARBINARY, v -> ValueVarbinary.get((byte[]) v), (v, p) -> v.getBytes(), true),
    UNIQUE_ID(UUID.class, TypeInfo.TYPE_UUID, v -> ValueUuid.get((UUID) v), (v, p) -> uuid(v), true),
    DATE(
            Date.class,
            ofTime(Value.TIMESTAMP_TZ),
            v -> JSR310Utils.instantToValue(((Date) v).toInstant()),
            (v, p) -> Date.from(JSR310Utils.valueToInstant(v, p)),
            true),
    INSTANT(
            Instant.class,
            ofTime(Value.TIMESTAMP_TZ),
            v -> JSR310Utils.instantToValue((Instant) v),
            JSR310Utils::valueToInstant,
            true),
    LOCAL_DATE(
            LocalDate.class,
            TypeInfo.TYPE_DATE,
            v -> JSR310Utils.localDateToValue((LocalDate) v),
            JSR310Utils::valueToLocalDate,
            true),
    LOCAL_TIME(
            LocalTime.class,
            ofTime(Value.TIME),
            v -> JSR310Utils.localTimeToValue((LocalTime) v),
            JSR310Utils::valueToLocalTime,
            true),
    LOCAL_DATE_TIME(
            LocalDateTime.class,
            ofTime(Value.TIMESTAMP),
            v -> JSR310Utils.localDateTimeToValue((LocalDateTime) v),
            JSR310Utils::valueToLocalDateTime,
            true),
    /** Equal instants of other zones are other objects: no keys. */
    ZONED_DATE_TIME(
            ZonedDateTime.class,
            ofTime(Value.TIMESTAMP_TZ),
            v -> JSR310Utils.zonedDateTimeToValue((ZonedDateTime) v),
            JSR310Utils::valueToZonedDateTime,
            false),
    OFFSET_DATE_TIME(
            OffsetDateTime.class,
            ofTime(Value.TIMESTAMP_TZ),
            v -> JSR310Utils.offsetDateTimeToValue((OffsetDateTime) v),
            JSR310Utils::valueToOffsetDateTime,
            false),
    OFFSET_TIME(
            OffsetTime.class,
            ofTime(Value.TIME_TZ),
            v -> JSR310Utils.offsetTimeToValue((OffsetTime) v),
            JSR310Utils::valueToOffsetTime,
            false),
    DURATION(
            Duration.class,
            TypeInfo.getTypeInfo(Value.INTERVAL_SECOND, 18, 9, null),
            v -> JSR310Utils.durationToValue((Duration) v),
            (v, p) -> JSR310Utils.valueToDuration(v),
            false),
    PERIOD(Period.class, Period::parse),
    YEAR(
            Year.class,
            TypeInfo.TYPE_INTEGER,
            v -> ValueInteger.get(((Year) v).getValue()),
            (v, p) -> Year.of(v.getInt()),
            true),
    YEAR_MONTH(YearMonth.class, YearMonth::parse),
    MONTH_DAY(MonthDay.class, MonthDay::parse),
    ZONE_OFFSET(ZoneOffset.class, ZoneOffset::of),
    /** By its name; the class is a property of the column. */
    ENUM(Enum.class, TypeInfo.TYPE_VARCHAR, null, null, true),
    /** A text that is JSON: where a table is declared so. */
    JSON_TEXT(String.class, TypeInfo.TYPE_JSON, v -> ValueJson.fromJson((String) v), (v, p) -> v.getString(), false),
    /** Bytes of a client without a codec that are text. */
    PLAIN_TEXT(
            null,
            TypeInfo.TYPE_VARCHAR,
            v -> ValueVarchar.get((String) v),
            (v, p) -> v.getString().getBytes(StandardCharsets.UTF_8),
            true),
    /** Other bytes of such a client. */
    PLAIN_BYTES(null, TypeInfo.TYPE_VARBINARY, v -> ValueVarbinary.get((byte[]) v), (v, p) -> v.getBytes(), true),
    /** Collections, arrays, and objects beside other values, as text; read only. */
    JSON(null, TypeInfo.TYPE_JSON, null, null, false),
    /** Bytes that need the application's classes, as they are stored; read only. */
    OPAQUE(null, TypeInfo.TYPE_VARBINARY, null, null, false),
    /** Values of several types, as text; read only. */
    MIXED(null, TypeInfo.TYPE_VARCHAR, null, null, false),
    /** Nothing but null was seen; read only. */
    UNKNOWN(null, TypeInfo.TYPE_VARCHAR, null, null, false);

    private final @Nullable Class<?> javaType;
    private final TypeInfo sqlType;
    private final @Nullable Function<Object, Value> toValue;
    private final @Nullable BiFunction<Value, CastDataProvider, Object> toObject;
    private final boolean isKey;

    StoredType(
            @Nullable Class<?> javaType,
            TypeInfo sqlType,
            @Nullable Function<Object, Value> toValue,
            @Nullable BiFunction<Value, CastDataProvider, Object> toObject,
            boolean isKey) {
        this.javaType = javaType;
        this.sqlType = sqlType;
        this.toValue = toValue;
        this.toObject = toObject;
        this.isKey = isKey;
    }

    /** An object that is its text. */
    StoredType(Class<?> javaType, Function<String, Object> parse) {
        this(
                javaType,
                TypeInfo.TYPE_VARCHAR,
                v -> ValueVarchar.get(v.toString()),
                (v, p) -> parse.apply(v.getString()),
                true);
    }

    private static TypeInfo ofTime(int type) {
        return TypeInfo.getTypeInfo(type, -1, 9, null);
    }

    private static Object oneChar(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException("the column holds one character, not " + text.length());
        }
        return text.charAt(0);
    }

    private static Object uuid(Value value) {
        return ((ValueUuid) value.convertTo(TypeInfo.TYPE_UUID)).getUuid();
    }

    /** The type of the objects whose encoding begins with the tag. */
    public static StoredType ofTag(byte tag) {
        return switch (tag) {
            case Tag.STRING_LATIN1, Tag.STRING_UTF16 -> STRING;
            case Tag.BYTES -> BYTES;
            case Tag.INTEGER -> INTEGER;
            case Tag.LONG -> LONG;
            case Tag.SHORT -> SHORT;
            case Tag.BYTE -> BYTE;
            case Tag.CHARACTER -> CHARACTER;
            case Tag.TRUE, Tag.FALSE -> BOOLEAN;
            case Tag.FLOAT -> FLOAT;
            case Tag.DOUBLE -> DOUBLE;
            case Tag.UUID -> UNIQUE_ID;
            case Tag.BIG_INTEGER -> BIG_INTEGER;
            case Tag.BIG_DECIMAL -> BIG_DECIMAL;
            case Tag.DATE -> DATE;
            case Tag.ENUM -> ENUM;
            case Tag.INSTANT -> INSTANT;
            case Tag.LOCAL_DATE -> LOCAL_DATE;
            case Tag.LOCAL_TIME -> LOCAL_TIME;
            case Tag.LOCAL_DATE_TIME -> LOCAL_DATE_TIME;
            case Tag.ZONED_DATE_TIME -> ZONED_DATE_TIME;
            case Tag.OFFSET_DATE_TIME -> OFFSET_DATE_TIME;
            case Tag.OFFSET_TIME -> OFFSET_TIME;
            case Tag.DURATION -> DURATION;
            case Tag.PERIOD -> PERIOD;
            case Tag.YEAR -> YEAR;
            case Tag.YEAR_MONTH -> YEAR_MONTH;
            case Tag.MONTH_DAY -> MONTH_DAY;
            case Tag.ZONE_OFFSET -> ZONE_OFFSET;
            case Tag.COLLECTION, Tag.PRIMITIVE_ARRAY -> JSON;
            default -> OPAQUE;
        };
    }

    /** The type of the objects of a class; UNKNOWN if the class is none of these. */
    public static StoredType ofClass(Class<?> type) {
        if (type.isPrimitive()) {
            return ofClass(java.lang.invoke.MethodType.methodType(type).wrap().returnType());
        }
        if (type.isEnum()) {
            return ENUM;
        }
        if (Collection.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type)
                || type.isArray() && type.getComponentType().isPrimitive() && type != byte[].class) {
            return JSON;
        }
        for (StoredType each : values()) {
            if (each.javaType == type) {
                return each;
            }
        }
        return UNKNOWN;
    }

    /** Whether its objects' encodings begin with the tag. */
    boolean hasTag(byte tag) {
        final StoredType other = ofTag(tag);
        return other == this || this == JSON_TEXT && other == STRING;
    }

    /** The name of the class of its objects. */
    public String className() {
        return javaType == null ? Object.class.getName() : javaType.getName();
    }

    public TypeInfo sqlType() {
        return sqlType;
    }

    /** Whether SQL values can be written. */
    public boolean isWritable() {
        return toObject != null || this == ENUM;
    }

    /** Whether equal SQL values have equal bytes, so that an entry is found by the value of its key. */
    public boolean isKey() {
        return isKey;
    }

    /** Whether its bytes are those of the client, and not the codec's. */
    boolean isPlain() {
        return this == PLAIN_TEXT || this == PLAIN_BYTES;
    }

    /** Whether a field of the type may be of a primitive type, which holds no null. */
    boolean mayBePrimitive() {
        return switch (this) {
            case CHARACTER, BOOLEAN, BYTE, SHORT, INTEGER, LONG, FLOAT, DOUBLE -> true;
            default -> false;
        };
    }

    /** The SQL value of an object of this type. */
    Value valueOf(Object object) {
        if (toValue == null) {
            throw new IllegalArgumentException("objects of the type " + this + " are read from their bytes");
        }
        return toValue.apply(object);
    }

    /** The object of an SQL value of this type. */
    Object objectOf(Value value, CastDataProvider provider) {
        if (toObject == null) {
            throw new IllegalArgumentException("a column of the type " + this + " is read only");
        }
        return toObject.apply(value, provider);
    }
}
