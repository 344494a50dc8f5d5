package org.rowankv.check.chaos;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;

/**
 * One asynchronous writer and one asynchronous reader of a key of a shard; each has one operation in flight. The writer
 * puts the next value, receives the replaced one, then reads. {@link #step} is called by one thread, completions come on
 * others.
 */
final class ShardLane {
    private static final int NUMBER = Long.BYTES;

    /** Finds keys of the shard. */
    @FunctionalInterface
    interface KeyPlaces {
        boolean isInShard(byte[] key, int shard);
    }

    private final int shard;
    private final int cacheId;
    private final RowanClient writer;
    private final RowanClient reader;
    private final KeyPlaces places;
    private final ChaosFindings findings;
    private final CompletionTimes written = new CompletionTimes();
    private final CompletionTimes read = new CompletionTimes();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final AtomicBoolean reading = new AtomicBoolean();
    /** Cells whose last write has an unknown outcome: they are used no more, and read at the end. */
    private final List<ShardCell> retired = new ArrayList<>();

    private volatile ShardCell cell;
    private int names;
    private volatile long operations;

    ShardLane(
            int shard, int cacheId, RowanClient writer, RowanClient reader, KeyPlaces places, ChaosFindings findings) {
        this.shard = shard;
        this.cacheId = cacheId;
        this.writer = writer;
        this.reader = reader;
        this.places = places;
        this.findings = findings;
        this.cell = nextCell();
    }

    private ShardCell nextCell() {
        while (true) {
            final byte[] key = ("shard " + shard + " " + names++).getBytes(StandardCharsets.UTF_8);
            if (places.isInShard(key, shard)) {
                return new ShardCell(key);
            }
        }
    }

    CompletionTimes written() {
        return written;
    }

    CompletionTimes read() {
        return read;
    }

    long operations() {
        return operations;
    }

    /** Begins the operations that are not in flight. */
    void step() {
        if (writing.compareAndSet(false, true)) {
            write(cell);
        }
        if (reading.compareAndSet(false, true)) {
            final ShardCell of = cell;
            read(reader, of, reading);
        }
    }

    private void write(ShardCell of) {
        final long value = of.issue();
        final byte[] bytes = ByteBuffer.allocate(NUMBER).putLong(value).array();
        final Request request = new Request()
                .put(cacheId, of.key(), 0, of.key().length, bytes, 0, bytes.length)
                .requestValue(true);
        writer.executeAsync(request).thenAccept(answer -> onWritten(of, value, answer));
    }

    private void onWritten(ShardCell of, long value, Request answer) {
        final Status status = answer.status();
        if (status == Status.OK) {
            final long replaced = numberIn(answer.hasResult() ? answer.resultBytes() : null);
            report(of.judgeReplaced(replaced, value), of, "the write of " + value + " replaced " + replaced);
            of.acknowledge(value);
            written.add(SystemClock.INSTANCE.nanoTime());
            count();
            read(writer, of, writing);
            return;
        }
        findings.addFailure("write to shard " + shard + ": " + status);
        synchronized (this) {
            retired.add(of);
            cell = nextCell();
        }
        writing.set(false);
    }

    private void read(RowanClient client, ShardCell of, AtomicBoolean inFlight) {
        final long floor = of.acknowledged();
        client.executeAsync(new Request().get(cacheId, of.key(), 0, of.key().length))
                .thenAccept(answer -> onRead(of, floor, answer, inFlight));
    }

    private void onRead(ShardCell of, long floor, Request answer, AtomicBoolean inFlight) {
        final Status status = answer.status();
        if (status == Status.OK || status == Status.NOT_FOUND) {
            final long value = numberIn(status == Status.OK ? answer.resultBytes() : null);
            report(of.judgeRead(value, floor), of, "read " + value);
            (inFlight == writing ? written : read).add(SystemClock.INSTANCE.nanoTime());
            count();
        } else {
            findings.addFailure("read of shard " + shard + ": " + status);
        }
        inFlight.set(false);
    }

    private void report(ChaosFindings.@org.jspecify.annotations.Nullable Kind kind, ShardCell of, String text) {
        if (kind != null) {
            findings.add(
                    kind,
                    "shard " + shard + ", key \"" + new String(of.key(), StandardCharsets.UTF_8) + "\": " + text
                            + "; acknowledged " + of.acknowledged() + ", sent " + of.issued());
        }
    }

    private static long numberIn(byte @org.jspecify.annotations.Nullable [] value) {
        return value == null || value.length != NUMBER
                ? 0
                : ByteBuffer.wrap(value).getLong();
    }

    private synchronized void count() {
        operations++;
    }

    /** Whether nothing is in flight. */
    boolean isAtRest() {
        return !writing.get() && !reading.get();
    }

    /** Reads all cells; nothing is in flight. */
    void checkAtRest() {
        final List<ShardCell> all;
        synchronized (this) {
            all = new ArrayList<>(retired);
            all.add(cell);
        }
        for (ShardCell each : all) {
            final Request request = new Request().get(cacheId, each.key(), 0, each.key().length);
            reader.execute(request);
            if (request.status() != Status.OK && request.status() != Status.NOT_FOUND) {
                findings.addFailure("last read of shard " + shard + ": " + request.status());
                continue;
            }
            final long value = numberIn(request.status() == Status.OK ? request.resultBytes() : null);
            report(
                    value < each.acknowledged() ? ChaosFindings.Kind.LOST : each.judgeRead(value, 0),
                    each,
                    "holds " + value);
        }
    }
}
