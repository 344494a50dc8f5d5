package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Timeout;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.rdma.rowan.LandingCursor;

/** At FORCED an entry is acknowledged when all of its bytes are on the device, wherever it landed, and not before. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class ForcedConformance {
    private static final int SEGMENT = 1024;
    private static final int SEGMENTS = 16;
    private static final int APPENDS = 40;

    private final Device device = new Device();
    private final Entries entries = new Entries();
    private final Map<Long, Landed> landed = new HashMap<>();
    private Fabric fabric;
    private TestServer receiver;
    private LandingCursor cursor;
    private int acknowledged;

    /** That acknowledges at FORCED. */
    protected abstract Fabric createFabric();

    /** A device that completes forces on demand. */
    private static final class Device implements LandingForce {
        private final byte[] flushed = new byte[TestServer.BASE + SEGMENTS * SEGMENT];
        /** By ticket, from 1: all that it has once that is forced. */
        private final List<byte[]> requests = new ArrayList<>();

        private MemoryRegion region;
        private int forced;
        private long flushedBytes;
        /** Ranges that begin or end within a stride. */
        private final List<Long> cut = new ArrayList<>();

        @Override
        public synchronized void flush(long address, long length) {
            flushedBytes += length;
            if (address % FrameDescriptor.STRIDE != 0 || length % FrameDescriptor.STRIDE != 0) {
                cut.add(address);
            }
            region.buffer(address).get(region.offset(address), flushed, (int) address, (int) length);
        }

        @Override
        public synchronized long request() {
            requests.add(flushed.clone());
            return requests.size();
        }

        @Override
        public synchronized boolean isForced(long ticket) {
            return ticket <= forced;
        }

        synchronized void force(int upTo) {
            forced = Math.max(forced, Math.min(upTo, requests.size()));
        }

        synchronized List<Long> cut() {
            return List.copyOf(cut);
        }

        synchronized long flushedBytes() {
            return flushedBytes;
        }

        synchronized int requested() {
            return requests.size();
        }

        /** Whether the device has the bytes of that entry. */
        synchronized boolean has(long address, int length) {
            final byte[] bytes = new byte[length];
            region.buffer(address).get(region.offset(address), bytes);
            final int at = (int) address;
            return forced > 0 && Arrays.equals(bytes, 0, length, requests.get(forced - 1), at, at + length);
        }
    }

    @BeforeEach
    void open() {
        fabric = createFabric();
        receiver = TestServer.open(fabric, 1, SEGMENTS, SEGMENT, device);
        device.region = receiver.settings().region();
        cursor = receiver.cursor();
    }

    @AfterEach
    void close() {
        fabric.close();
    }

    private void poll(QueuePair pair) {
        pair.poll(
                (context, status) -> {
                    assertThat(status).isEqualTo(CompletionStatus.LANDED);
                    receiver.read(cursor, 0).forEach(each -> landed.put(each.id(), each));
                    final Landed entry = landed.get(context);
                    assertThat(device.has(entry.address(), Entries.length(receiver.settings(), entry.address())))
                            .as("%s is on the device", entry)
                            .isTrue();
                    acknowledged++;
                },
                10);
    }

    /** Segments come in any order, entries land during a force, and two senders alternate. */
    @RepeatedTest(6)
    void shouldAcknowledgeWhatTheDeviceHas(RepetitionInfo repetition) {
        final Random random = new Random(repetition.getCurrentRepetition());
        final List<Integer> order =
                new ArrayList<>(IntStream.range(0, SEGMENTS).boxed().toList());
        Collections.shuffle(order, random);
        order.forEach(segment -> assertThat(receiver.post(segment)).isTrue());
        final List<QueuePair> pairs = new ArrayList<>();
        for (int server = 2; server <= 3; server++) {
            pairs.add(TestServer.open(fabric, server, 1, SEGMENT, new Device()).connectTo(receiver));
        }
        long id = 0;
        while (id < APPENDS) {
            final QueuePair pair = pairs.get(random.nextInt(pairs.size()));
            final int length = Entries.MIN_LENGTH + random.nextInt(300);
            if (pair.send(id + 1, entries.make(id + 1, length), 0, length, 0) == PostStatus.POSTED) {
                id++;
            }
            pairs.forEach(this::poll);
            if (random.nextInt(3) == 0) {
                device.force(random.nextInt(device.requested() + 1));
                pairs.forEach(this::poll);
            }
        }
        while (acknowledged < APPENDS) {
            device.force(device.requested());
            pairs.forEach(this::poll);
        }
        pairs.forEach(QueuePair::close);
        assertThat(device.cut()).as("ranges that do not consist of strides").isEmpty();
        assertThat(device.flushedBytes())
                .as("each landing is flushed once, padding included")
                .isEqualTo(landed.values().stream().mapToLong(Landed::length).sum());
    }
}
