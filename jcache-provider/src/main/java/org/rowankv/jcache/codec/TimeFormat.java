package org.rowankv.jcache.codec;

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
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/** Format of the {@code java.time} types. Stateless. */
final class TimeFormat {
    private TimeFormat() {}

    /** Writes the object if it is of one of these types; returns whether it was. */
    static boolean write(Object value, ByteSink out) {
        if (value instanceof Instant instant) {
            out.write(Tag.INSTANT);
            out.writeLong(instant.getEpochSecond());
            out.writeInt(instant.getNano());
        } else if (value instanceof LocalDate date) {
            out.write(Tag.LOCAL_DATE);
            out.writeLong(date.toEpochDay());
        } else if (value instanceof LocalTime time) {
            out.write(Tag.LOCAL_TIME);
            out.writeLong(time.toNanoOfDay());
        } else if (value instanceof LocalDateTime dateTime) {
            out.write(Tag.LOCAL_DATE_TIME);
            writeLocal(dateTime, out);
        } else if (value instanceof ZonedDateTime zoned) {
            out.write(Tag.ZONED_DATE_TIME);
            writeLocal(zoned.toLocalDateTime(), out);
            out.writeInt(zoned.getOffset().getTotalSeconds());
            final byte[] zone = zoned.getZone().getId().getBytes(StandardCharsets.UTF_8);
            out.write(zone, 0, zone.length);
        } else if (value instanceof OffsetDateTime offset) {
            out.write(Tag.OFFSET_DATE_TIME);
            writeLocal(offset.toLocalDateTime(), out);
            out.writeInt(offset.getOffset().getTotalSeconds());
        } else if (value instanceof OffsetTime offset) {
            out.write(Tag.OFFSET_TIME);
            out.writeLong(offset.toLocalTime().toNanoOfDay());
            out.writeInt(offset.getOffset().getTotalSeconds());
        } else {
            return writeAmount(value, out);
        }
        return true;
    }

    private static boolean writeAmount(Object value, ByteSink out) {
        if (value instanceof Duration duration) {
            out.write(Tag.DURATION);
            out.writeLong(duration.getSeconds());
            out.writeInt(duration.getNano());
        } else if (value instanceof Period period) {
            out.write(Tag.PERIOD);
            out.writeInt(period.getYears());
            out.writeInt(period.getMonths());
            out.writeInt(period.getDays());
        } else if (value instanceof Year year) {
            out.write(Tag.YEAR);
            out.writeInt(year.getValue());
        } else if (value instanceof YearMonth yearMonth) {
            out.write(Tag.YEAR_MONTH);
            out.writeInt(yearMonth.getYear());
            out.write(yearMonth.getMonthValue());
        } else if (value instanceof MonthDay monthDay) {
            out.write(Tag.MONTH_DAY);
            out.write(monthDay.getMonthValue());
            out.write(monthDay.getDayOfMonth());
        } else if (value instanceof ZoneOffset offset) {
            out.write(Tag.ZONE_OFFSET);
            out.writeInt(offset.getTotalSeconds());
        } else {
            return false;
        }
        return true;
    }

    private static void writeLocal(LocalDateTime dateTime, ByteSink out) {
        out.writeLong(dateTime.toLocalDate().toEpochDay());
        out.writeLong(dateTime.toLocalTime().toNanoOfDay());
    }

    /** Reads an object, or null if the tag is of another type. */
    static @Nullable Object read(byte tag, ByteSource in) {
        return switch (tag) {
            case Tag.INSTANT -> Instant.ofEpochSecond(in.readLong(), in.readInt());
            case Tag.LOCAL_DATE -> LocalDate.ofEpochDay(in.readLong());
            case Tag.LOCAL_TIME -> LocalTime.ofNanoOfDay(in.readLong());
            case Tag.LOCAL_DATE_TIME -> readLocal(in);
            case Tag.ZONED_DATE_TIME -> readZoned(in);
            case Tag.OFFSET_DATE_TIME -> OffsetDateTime.of(readLocal(in), readOffset(in));
            case Tag.OFFSET_TIME -> OffsetTime.of(LocalTime.ofNanoOfDay(in.readLong()), readOffset(in));
            case Tag.DURATION -> Duration.ofSeconds(in.readLong(), in.readInt());
            case Tag.PERIOD -> Period.of(in.readInt(), in.readInt(), in.readInt());
            case Tag.YEAR -> Year.of(in.readInt());
            case Tag.YEAR_MONTH -> YearMonth.of(in.readInt(), in.readByte());
            case Tag.MONTH_DAY -> MonthDay.of(in.readByte(), in.readByte());
            case Tag.ZONE_OFFSET -> readOffset(in);
            default -> null;
        };
    }

    private static LocalDateTime readLocal(ByteSource in) {
        return LocalDateTime.of(LocalDate.ofEpochDay(in.readLong()), LocalTime.ofNanoOfDay(in.readLong()));
    }

    private static ZoneOffset readOffset(ByteSource in) {
        return ZoneOffset.ofTotalSeconds(in.readInt());
    }

    private static ZonedDateTime readZoned(ByteSource in) {
        final LocalDateTime local = readLocal(in);
        final ZoneOffset offset = readOffset(in);
        final String zone = new String(in.readBytes(in.remaining()), StandardCharsets.UTF_8);
        return ZonedDateTime.ofLocal(local, ZoneId.of(zone), offset);
    }
}
