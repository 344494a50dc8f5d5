package org.rowankv.bench.micro;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.rowankv.bench.report.Dice;
import org.rowankv.bench.report.KeySpace;

/**
 * Lower bounds of get and put on this machine: look a key up in a hash map and copy the value; look it up, copy an
 * entry into a mapped segment and compute its CRC32C. Keys are bytes, as in the store.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class FloorBenchmark {
    private static final int ENTRY_LENGTH = 128;
    private static final int SEGMENT_LENGTH = 4 << 20;

    /** The map, shared by all threads. */
    @State(Scope.Benchmark)
    public static class Objects {
        @Param("1000000")
        public int keyCount;

        byte[][] keys;
        ConcurrentHashMap<ByteKey, byte[]> map;

        @Setup(Level.Trial)
        public void fill() {
            keys = KeySpace.keys(keyCount);
            map = new ConcurrentHashMap<>(2 * keyCount);
            for (byte[] key : KeySpace.keys(keyCount)) {
                map.put(new ByteKey(key), new byte[KeySpace.VALUE_LENGTH]);
            }
        }

        byte[] find(int index) {
            final byte[] value = map.get(new ByteKey(keys[index]));
            if (value == null) {
                throw new IllegalStateException("key " + index + " is missing");
            }
            return value;
        }
    }

    /** Buffers of one thread: it writes to its own segment, as a worker does to its log. */
    @State(Scope.Thread)
    public static class Buffers {
        final byte[] value = new byte[KeySpace.VALUE_LENGTH];
        final byte[] entry = new byte[ENTRY_LENGTH];
        final CRC32C crc = new CRC32C();
        ByteBuffer segment;
        private Path file;
        private int at;

        @Setup(Level.Trial)
        public void map() throws IOException {
            file = Files.createTempFile("rowan-floor-", ".segment");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, SEGMENT_LENGTH);
            }
            for (int offset = 0; offset < SEGMENT_LENGTH; offset += 4096) {
                segment.put(offset, (byte) 1);
            }
        }

        @TearDown(Level.Trial)
        public void delete() throws IOException {
            Files.delete(file);
        }

        int next() {
            at = at + ENTRY_LENGTH < SEGMENT_LENGTH ? at + ENTRY_LENGTH : 0;
            return at;
        }
    }

    @Benchmark
    public byte get(Objects objects, Buffers buffers, Dice dice) {
        final byte[] value = objects.find(dice.next(objects.keyCount));
        System.arraycopy(value, 0, buffers.value, 0, value.length);
        return buffers.value[7];
    }

    @Benchmark
    public long put(Objects objects, Buffers buffers, Dice dice) {
        final byte[] old = objects.find(dice.next(objects.keyCount));
        buffers.entry[7] = old[7];
        buffers.segment.put(buffers.next(), buffers.entry);
        buffers.crc.reset();
        buffers.crc.update(buffers.entry);
        return buffers.crc.getValue();
    }
}
