package org.rowankv.bench.jcache;

import static java.util.Objects.requireNonNull;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.ClassRules;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.codec.KeyFormat;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.codec.custom.ValueCodec;
import org.rowankv.jcache.codec.custom.ValueCodecs;

/** One object written and read in each format, without a store. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FormatBenchmark {
    /** Object and format of each line of the table. */
    static final List<String> LINES = List.of(
            "key structural",
            "key serialized",
            "record record",
            "record java",
            "record jackson",
            "record kryo",
            "bean record",
            "bean java",
            "bean jackson",
            "bean kryo");

    /** A key. */
    public record Isbn(String publisher, long number) implements Serializable {}

    /** A value. */
    public record Row(String title, BigDecimal price, LocalDate published, int pages) implements Serializable {}

    /** The same value as a class. */
    public static final class Bean implements Serializable {
        private static final long serialVersionUID = 1L;

        private String title = "";
        private BigDecimal price = BigDecimal.ZERO;
        private LocalDate published = LocalDate.EPOCH;
        private int pages;

        public String getTitle() {
            return title;
        }

        public void setTitle(String title) {
            this.title = title;
        }

        public BigDecimal getPrice() {
            return price;
        }

        public void setPrice(BigDecimal price) {
            this.price = price;
        }

        public LocalDate getPublished() {
            return published;
        }

        public void setPublished(LocalDate published) {
            this.published = published;
        }

        public int getPages() {
            return pages;
        }

        public void setPages(int pages) {
            this.pages = pages;
        }
    }

    /** An object, its codec, and its bytes. */
    @State(Scope.Thread)
    public static class Line {
        @Param("key structural")
        public String line;

        private final ByteSink sink = new ByteSink(1_024);
        private Codec codec;
        private Object object;
        private boolean isKey;
        private byte[] bytes;

        /** Writes it once. */
        @Setup(Level.Trial)
        public void begin() {
            final String[] parts = line.split(" ");
            isKey = parts[0].equals("key");
            object = switch (parts[0]) {
                case "key" -> new Isbn("A publisher", 9_783_161_484_100L);
                case "record" -> row();
                default -> bean();
            };
            codec = codec(parts[1]);
            write();
            bytes = sink.toBytes();
        }

        int write() {
            sink.reset();
            if (isKey) {
                codec.encodeKey(object, sink);
            } else {
                codec.encode(object, sink);
            }
            return sink.length();
        }

        Object read() {
            return isKey ? codec.decodeKey(bytes, 0, bytes.length, Object.class) : codec.decode(bytes, 0, bytes.length);
        }
    }

    private static Object row() {
        return new Row("A title of the book 1", new BigDecimal("19.95"), LocalDate.EPOCH, 301);
    }

    private static Object bean() {
        final Bean bean = new Bean();
        bean.setTitle("A title of the book 1");
        bean.setPrice(new BigDecimal("19.95"));
        bean.setPages(301);
        return bean;
    }

    private static Codec codec(String format) {
        final ClassLoader loader = FormatBenchmark.class.getClassLoader();
        final boolean isOwn = ValueCodecs.isOwn(format) || format.equals("structural") || format.equals("serialized");
        final ValueCodec custom = isOwn ? null : requireNonNull(ValueCodecs.find(format, loader), format);
        return new Codec(
                new LoaderReference(loader),
                ClassRules.open(),
                format.equals("serialized") ? KeyFormat.SERIALIZED : KeyFormat.STRUCTURAL,
                !format.equals(ValueCodecs.JAVA),
                custom);
    }

    /** Bytes of the line's object. */
    static int bytes(String name) {
        final Line line = new Line();
        line.line = name;
        line.begin();
        return line.bytes.length;
    }

    @Benchmark
    public int write(Line line) {
        return line.write();
    }

    @Benchmark
    public Object read(Line line) {
        return line.read();
    }
}
