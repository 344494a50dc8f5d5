package org.rowankv.jcache.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
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
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.cache.CacheException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("jvm")
@net.jqwik.api.Tag("jvm")
class CodecTest {
    private enum Shape {
        ROUND,
        /** A constant with a body, and so with its own class. */
        SQUARE {
            @Override
            public String toString() {
                return "square";
            }
        }
    }

    private final Codec codec = new Codec(
            new LoaderReference(CodecTest.class.getClassLoader()),
            new ClassRules(List.of(), ""),
            KeyFormat.STRUCTURAL,
            false);

    private byte[] encode(Object value) {
        final ByteSink sink = new ByteSink(8);
        codec.encode(value, sink);
        return sink.toBytes();
    }

    private Object decode(byte[] bytes) {
        final byte[] framed = new byte[bytes.length + 7];
        Arrays.fill(framed, (byte) 0x55);
        System.arraycopy(bytes, 0, framed, 3, bytes.length);
        return codec.decode(framed, 3, bytes.length);
    }

    static Stream<Object> canonicalValues() {
        return Stream.of(
                "",
                "plain",
                "\u00ff\u0000 Latin-1",
                "Ж 漢字 \ud83d\ude00",
                "unpaired \ud83d surrogate",
                new byte[] {},
                new byte[] {1, 2, -3},
                0,
                Integer.MIN_VALUE,
                Long.MAX_VALUE,
                (short) -7,
                (byte) -7,
                'ß',
                true,
                false,
                1.5f,
                -0.0,
                Double.NaN,
                new UUID(1, -2),
                BigInteger.TWO.pow(200).negate(),
                new BigDecimal("-12.3400"),
                new Date(-1),
                Shape.ROUND,
                Shape.SQUARE,
                DayOfWeek.MONDAY,
                Instant.parse("1969-12-31T23:59:59.999999999Z"),
                LocalDate.of(-4, 2, 29),
                LocalTime.of(23, 59, 59, 999_999_999),
                LocalDateTime.of(2024, 2, 29, 0, 0),
                OffsetDateTime.of(2024, 2, 29, 1, 2, 3, 4, ZoneOffset.ofHoursMinutes(5, 30)),
                OffsetTime.of(1, 2, 3, 4, ZoneOffset.MIN),
                ZonedDateTime.ofLocal(
                        LocalDateTime.of(2024, 10, 27, 2, 30), ZoneId.of("Europe/Berlin"), ZoneOffset.ofHours(1)),
                Duration.ofSeconds(-1, 1),
                Period.of(1, -2, 3),
                Year.of(-5),
                YearMonth.of(2024, 2),
                MonthDay.of(2, 29),
                ZoneOffset.ofTotalSeconds(-3601));
    }

    static Stream<Object> serializedValues() {
        final Map<String, Object> nested = new HashMap<>();
        nested.put("list", new ArrayList<>(List.of(1, "two", LocalDate.EPOCH)));
        nested.put("when", new java.sql.Timestamp(5));
        return Stream.of(
                nested,
                List.of(1, 2, 3),
                Map.of("a", 1, "b", 2),
                Set.of(TimeUnit.DAYS),
                Collections.unmodifiableList(new ArrayList<>(List.of("x"))),
                Collections.emptyMap(),
                Arrays.asList("a", "b"),
                new EnumMap<>(Map.of(Shape.SQUARE, "s")),
                EnumSet.of(Shape.ROUND, Shape.SQUARE),
                new TreeMap<>(Map.of(1, new LinkedHashMap<>(Map.of("k", new HashSet<>(Set.of(2L)))))),
                ZoneId.of("Europe/Berlin"),
                new int[] {1, 2},
                new String[][] {{"a"}, {}});
    }

    @ParameterizedTest
    @MethodSource({"canonicalValues", "serializedValues"})
    void shouldGiveBackAnEqualCopy(Object value) {
        final Object copy = decode(encode(value));
        assertThat(copy).isEqualTo(value).hasSameClassAs(value);
    }

    @ParameterizedTest
    @MethodSource("canonicalValues")
    void shouldHaveOneEncodingForEqualObjects(Object value) {
        final byte[] bytes = encode(value);
        assertThat(Codec.isCanonical(bytes, 0)).isTrue();
        assertThat(encode(decode(bytes))).isEqualTo(bytes);
    }

    @ParameterizedTest
    @MethodSource("serializedValues")
    void shouldNotClaimThatSerializedObjectsAreCanonical(Object value) {
        assertThat(Codec.isCanonical(encode(value), 0)).isFalse();
    }

    /** The format is on disk: these bytes never change. */
    @ParameterizedTest
    @CsvSource({"abc,02616263", "Ж,030416", "é,02e9"})
    void shouldKeepTheFormatOfStrings(String text, String hex) {
        assertThat(HexFormat.of().formatHex(encode(text))).isEqualTo(hex);
    }

    @Test
    void shouldKeepTheFormatOfEverythingElse() throws Exception {
        final StringBuilder all = new StringBuilder();
        canonicalValues()
                .filter(value -> !(value instanceof String) && !(value instanceof Shape))
                .forEach(value ->
                        all.append(HexFormat.of().formatHex(encode(value))).append('\n'));
        try (InputStream golden = CodecTest.class.getResourceAsStream("/codec-format.txt")) {
            assertThat(all.toString()).isEqualTo(new String(golden.readAllBytes(), StandardCharsets.US_ASCII));
        }
    }

    @Property
    void shouldKeepEveryString(@ForAll String text) {
        assertThat(decode(encode(text))).isEqualTo(text);
    }

    /** Characters at the limits of one byte, and of one bit of the second byte. */
    @Property(tries = 500)
    void shouldKeepStringsOfCharactersAtTheBoundsApart(
            @ForAll @Size(max = 3) List<@IntRange(max = 9) Integer> one,
            @ForAll @Size(max = 3) List<@IntRange(max = 9) Integer> other) {
        final String first = ofBounds(one);
        final String second = ofBounds(other);
        assertThat(decode(encode(first))).isEqualTo(first);
        assertThat(Arrays.equals(encode(first), encode(second))).isEqualTo(first.equals(second));
    }

    private static String ofBounds(List<Integer> numbers) {
        final String bounds = "\u0000\u007f\u0080\u00ff\u0100\u0101\u0200\u8000\ud800\uffff";
        return numbers.stream().map(bounds::charAt).map(String::valueOf).collect(Collectors.joining());
    }

    @Test
    void shouldKeepEveryCharacter() {
        for (int c = Character.MIN_VALUE; c <= Character.MAX_VALUE; c++) {
            final String text = String.valueOf((char) c);
            if (!text.equals(decode(encode(text)))) {
                throw new AssertionError("the character " + c);
            }
        }
    }

    @Property(tries = 3_000)
    void shouldRefuseMalformedBytesWithAnExceptionOfItsOwn(@ForAll @Size(max = 40) byte[] bytes) {
        try {
            assertThat(codec.decode(bytes, 0, bytes.length)).isNotNull();
        } catch (CacheException e) {
            assertThat(e).hasMessageNotContaining("null");
        }
    }

    @Property(tries = 3_000)
    void shouldRefuseDamagedBytesWithAnExceptionOfItsOwn(@ForAll int which, @ForAll byte damage, @ForAll int where) {
        final List<Object> values =
                Stream.concat(canonicalValues(), serializedValues()).toList();
        final byte[] bytes = encode(values.get(Math.floorMod(which, values.size())));
        bytes[Math.floorMod(where, bytes.length)] ^= damage;
        try {
            codec.decode(bytes, 0, bytes.length);
        } catch (CacheException e) {
            assertThat(e.getMessage()).isNotNull();
        }
    }

    @Test
    void shouldNameAConstantThatIsGone() {
        final byte[] bytes = encode(Shape.ROUND);
        bytes[bytes.length - 1] = 'X';
        assertThatThrownBy(() -> decode(bytes))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("ROUNX");
    }

    @Test
    void shouldNameAClassThatIsMissing() {
        final byte[] bytes = encode(Shape.ROUND);
        bytes[10] = '_';
        assertThatThrownBy(() -> decode(bytes))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("cannot be loaded")
                .hasMessageContaining("entry stays");
    }

    @Test
    void shouldSayWhatCannotBeSerialized() {
        assertThatThrownBy(() -> encode(new ArrayList<>(List.of(new Object()))))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("ArrayList")
                .hasRootCauseInstanceOf(java.io.NotSerializableException.class);
    }
}
