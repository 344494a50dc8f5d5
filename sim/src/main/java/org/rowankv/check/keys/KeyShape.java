package org.rowankv.check.keys;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.DayOfWeek;
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
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Currency;
import java.util.Date;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Table of shapes of keys. */
enum KeyShape {
    STRING(KeyMaker::text),
    INTEGER(maker -> (int) maker.wide()),
    LONG(KeyMaker::wide),
    NUMBER_OF_ANY_TYPE(KeyMaker::scalar),
    DOUBLE(KeyMaker::fraction),
    FLOAT(maker -> (float) maker.fraction()),
    BIG_INTEGER(maker -> BigInteger.valueOf(maker.wide()).multiply(BigInteger.valueOf(maker.wide()))),
    BIG_DECIMAL(maker -> BigDecimal.valueOf(maker.number(3) * 10L, maker.number(3))),
    UUIDS(maker -> new UUID(maker.wide(), maker.wide())),
    CONSTANT(maker -> maker.of(KeyClasses.Color.values())),
    DATE(maker -> new Date(maker.wide())),
    SQL_DATE(maker -> new java.sql.Date(maker.wide())),
    SQL_TIME(maker -> new java.sql.Time(maker.wide())),
    TIMESTAMP(maker -> {
        final java.sql.Timestamp time = new java.sql.Timestamp(maker.number(3) * 1_000L);
        time.setNanos(maker.number(3));
        return time;
    }),
    INSTANT(maker -> Instant.ofEpochSecond(maker.number(3), maker.number(3))),
    LOCAL_DATE(maker -> LocalDate.of(2024, 1 + maker.number(3), 1 + maker.number(3))),
    LOCAL_TIME(maker -> LocalTime.of(maker.number(3), maker.number(3), maker.number(3))),
    LOCAL_DATE_TIME(maker -> LocalDateTime.of(2024, 1, 1 + maker.number(3), maker.number(3), 0)),
    ZONED(maker -> LocalDateTime.of(2024, 10, 27, 2, maker.number(2))
            .atZone(ZoneId.of(maker.of("Europe/Berlin", "Europe/Rome", "UTC", "Z")))),
    OFFSET_DATE_TIME(maker ->
            OffsetDateTime.of(LocalDateTime.of(2024, 1, 1, maker.number(3), 0), ZoneOffset.ofHours(maker.number(3)))),
    OFFSET_TIME(maker -> OffsetTime.of(maker.number(3), 0, 0, 0, ZoneOffset.ofHours(maker.number(3)))),
    ZONE(maker -> ZoneId.of(maker.of("Europe/Berlin", "UTC", "Z", "+01:00", "UTC+01:00"))),
    DURATION(maker -> Duration.ofSeconds(maker.number(3), maker.number(3))),
    PERIOD(maker -> Period.of(maker.number(2), maker.number(24), maker.number(2))),
    CALENDAR_PARTS(maker -> maker.of(
            Year.of(maker.number(3)),
            YearMonth.of(maker.number(3), 1 + maker.number(3)),
            MonthDay.of(1 + maker.number(3), 1 + maker.number(3)),
            DayOfWeek.of(1 + maker.number(3)))),
    ADDRESS(maker -> URI.create(
            maker.of("http://a.b/", "HTTP://A.b/", "http://a.b:80/", "http://a.b:080/", "mailto:a%7e", "mailto:a%7E")
                    + maker.of("", "x", "X"))),
    LOCALE(maker -> new Locale(maker.of("de", "en"), maker.of("", "DE"), maker.of("", "POSIX"))),
    CURRENCY(maker -> Currency.getInstance(maker.of("EUR", "USD"))),
    CLASS(maker -> maker.of(String.class, KeyClasses.Texts.class, int.class, int[].class)),
    BITS(maker -> BitSet.valueOf(new long[] {maker.number(3), maker.number(2)})),
    OPTIONAL(maker -> Optional.ofNullable(maker.flag() ? maker.text() : null)),
    OPTIONAL_LIST(maker -> Optional.of(maker.list(maker::text))),
    LIST_OF_TEXTS(maker -> maker.list(maker::text)),
    LIST_OF_SCALARS(maker -> maker.list(maker::scalar)),
    LIST_OF_LISTS(maker -> maker.list(() -> maker.list(maker::scalar))),
    SET_OF_TEXTS(maker -> maker.set(maker::text)),
    SET_OF_SETS(maker -> maker.set(() -> maker.set(maker::scalar))),
    SET_OF_CONSTANTS(maker -> {
        final EnumSet<KeyClasses.Color> colors = EnumSet.noneOf(KeyClasses.Color.class);
        colors.addAll(maker.list(() -> maker.of(KeyClasses.Color.values())));
        return maker.number(2) == 0 ? colors : maker.set(() -> maker.of(KeyClasses.Color.values()));
    }),
    MAP(maker -> maker.map(maker::text, maker::scalar)),
    MAP_OF_SETS(maker -> maker.map(maker::scalar, () -> maker.set(maker::text))),
    ENTRY(maker -> Map.entry(maker.text(), maker.scalar())),
    RECORD_OF_TEXTS(maker -> new KeyClasses.Texts(maker.text(), maker.text())),
    RECORD_OF_PRIMITIVES(maker -> new KeyClasses.Primitives(
            maker.flag(),
            (byte) maker.number(2),
            (short) maker.number(2),
            maker.of('a', 'A'),
            (int) maker.wide(),
            maker.wide(),
            (float) maker.fraction(),
            maker.of(0.0, -0.0))),
    RECORD_OF_COLLECTIONS(maker -> new KeyClasses.Collected(
            maker.list(maker::text), maker.set(maker::scalar), maker.map(maker::text, () -> maker.number(3)))),
    RECORD_OF_RECORDS(maker -> new KeyClasses.Nested(
            new KeyClasses.Texts(maker.text(), maker.text()),
            maker.list(() -> new KeyClasses.Texts(maker.text(), maker.text())))),
    RECORD_OF_ANYTHING(
            maker -> new KeyClasses.Anything(maker.scalar(), maker.flag() ? maker.list(maker::scalar) : null)),
    RECORD_WITHOUT_COMPONENTS(maker -> maker.flag() ? new KeyClasses.Empty() : new KeyClasses.Texts("", "")),
    CLASS_WITH_FIELDS(maker -> new KeyClasses.Plain(maker.text(), maker.number(3))),
    SUBCLASS(maker -> maker.flag()
            ? new KeyClasses.Sub(maker.text(), maker.number(2), maker.flag() ? maker.text() : null)
            : new KeyClasses.Plain(maker.text(), maker.number(2))),
    CLASS_OF_ARGUMENTS(maker -> new KeyClasses.Arguments(
            maker.scalar(), maker.text(), new Object[] {maker.scalar(), maker.of(KeyClasses.Color.values())})),
    CLASS_WITH_ZEROES(maker -> new KeyClasses.Point(maker.of(0.0, -0.0, 1.0), maker.of(0f, -0f, 1f))),
    BYTES(maker -> new byte[] {(byte) maker.number(2), (byte) maker.number(2)}),
    ARRAY(maker -> maker.of(
            new int[] {maker.number(2)},
            new long[] {maker.number(2)},
            new double[] {maker.fraction()},
            new String[] {maker.text()},
            new Object[] {maker.text(), maker.scalar()})),
    ANYTHING_THREE_DEEP(maker -> maker.any(3));

    private final Function<KeyMaker, Object> making;

    KeyShape(Function<KeyMaker, Object> making) {
        this.making = making;
    }

    Object make(long contentSeed, long styleSeed) {
        return making.apply(new KeyMaker(contentSeed, styleSeed));
    }

    /** What applications mean by equal: equals, but arrays by content, whatever the type of an array of objects. */
    boolean areEqual(Object one, Object other) {
        if (this != ARRAY && this != BYTES) {
            return one.equals(other);
        }
        return (one.getClass() == other.getClass() || one instanceof Object[] && other instanceof Object[])
                && Arrays.deepEquals(new Object[] {one}, new Object[] {other});
    }
}
