package org.rowankv.rdma.conformance;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CreditSource;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.LandingLane;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.GenerationSource;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.rdma.rowan.LandingHandler;
import org.rowankv.runtime.SplittableRandomSource;

/** A server as the fabric sees it: an area, an endpoint over it, and what a test observes of them. */
public final class TestServer implements AutoCloseable {
    public static final long CLUSTER = 77;
    /** Bytes before segment 0, where a real area has its superblock. */
    public static final int BASE = 4096;

    /** One landed entry. */
    public record Landed(long id, int segment, long address, int length) {}

    /** One RPC message. */
    public record Received(int from, long incarnation, List<Byte> bytes) {}

    private final Fabric fabric;
    private final EndpointSettings settings;
    private final Endpoint endpoint;
    private final AdjustableView view;
    private final AtomicLong credit;
    private final List<Received> received;
    private final GenerationSource generations = new GenerationSource(new SplittableRandomSource(42));
    private final Entries entries = new Entries();

    private TestServer(
            Fabric fabric, EndpointSettings settings, AdjustableView view, AtomicLong credit, List<Received> received) {
        this.fabric = fabric;
        this.settings = settings;
        this.view = view;
        this.credit = credit;
        this.received = received;
        this.endpoint = fabric.open(settings);
    }

    public static TestServer open(Fabric fabric, int serverId, int segments, int segmentLength) {
        final ByteBuffer area = ByteBuffer.allocateDirect(BASE + segments * segmentLength);
        return open(fabric, serverId, 1, CLUSTER, MemoryRegion.of(area), segmentLength, segments);
    }

    /** Of a fabric that acknowledges at FORCED. */
    public static TestServer open(Fabric fabric, int serverId, int segments, int segmentLength, LandingForce force) {
        final ByteBuffer area = ByteBuffer.allocateDirect(BASE + segments * segmentLength);
        return open(fabric, serverId, 1, CLUSTER, MemoryRegion.of(area), segmentLength, segments, force);
    }

    public static TestServer open(
            Fabric fabric,
            int serverId,
            long incarnation,
            long cluster,
            MemoryRegion region,
            int segmentLength,
            int maxPosted) {
        return open(fabric, serverId, incarnation, cluster, region, segmentLength, maxPosted, null);
    }

    private static TestServer open(
            Fabric fabric,
            int serverId,
            long incarnation,
            long cluster,
            MemoryRegion region,
            int segmentLength,
            int maxPosted,
            @Nullable LandingForce force) {
        final AdjustableView view = new AdjustableView();
        final AtomicLong credit = new AtomicLong();
        final List<Received> received = new ArrayList<>();
        final CreditSource source = new CreditSource() {
            @Override
            public long acquire(long requested) {
                final long before = credit.getAndUpdate(have -> have - Math.min(have, requested));
                return Math.min(before, requested);
            }

            @Override
            public void release(long bytes) {
                credit.addAndGet(bytes);
            }
        };
        final EndpointSettings settings = new EndpointSettings(
                serverId,
                incarnation,
                cluster,
                region,
                segmentLength,
                BASE,
                maxPosted,
                source,
                (from, fromIncarnation, message) -> received.add(new Received(from, fromIncarnation, bytes(message))),
                view,
                force);
        return new TestServer(fabric, settings, view, credit, received);
    }

    /** Opens the next incarnation over the same area, without closing this one: as after a crash. */
    public TestServer restart() {
        return open(
                fabric,
                settings.serverId(),
                settings.incarnation() + 1,
                settings.clusterId(),
                settings.region(),
                settings.segmentLength(),
                settings.maxPosted());
    }

    private static List<Byte> bytes(ByteBuffer message) {
        final List<Byte> bytes = new ArrayList<>();
        while (message.hasRemaining()) {
            bytes.add(message.get());
        }
        return bytes;
    }

    public boolean post(int segment) {
        final long base = settings.segmentAddress(segment);
        final int generation = generations.draw(
                settings.region().buffer(base), settings.region().offset(base), settings.segmentLength());
        return queue().post(segment, generation);
    }

    public void postAll() {
        for (int segment = 0; segment < settings.segmentCount(); segment++) {
            if (!post(segment)) {
                throw new AssertionError("segment " + segment + " was not posted");
            }
        }
    }

    public QueuePair connectTo(TestServer other) {
        return endpoint.connect(other.settings.serverId(), other.settings.incarnation(), other.view.term());
    }

    public LandingCursor cursor() {
        return new LandingCursor(settings, queue());
    }

    /** Everything published up to the tail or the first hole, verified, by lanes; every entry must have that tag. */
    public List<Landed> landed(int tag) {
        final List<Landed> landed = new ArrayList<>();
        for (int lane = 0; lane < queue().lanes(); lane++) {
            landed.addAll(read(queue().lane(lane), new LandingCursor(settings, queue().lane(lane)), tag));
        }
        return landed;
    }

    /** Reads on with the cursor. */
    public List<Landed> read(LandingCursor cursor, int tag) {
        return read(queue(), cursor, tag);
    }

    private List<Landed> read(LandingLane lane, LandingCursor cursor, int tag) {
        final List<Landed> landed = new ArrayList<>();
        final LandingHandler handler = new LandingHandler() {
            @Override
            public void onFrame(int segment, long address, int type, int lengthBytes) {
                final int generation = lane.generationAt(cursor.ordinal());
                final long id = entries.verify(settings, segment, address, generation, tag);
                landed.add(new Landed(id, segment, address, lengthBytes));
            }

            @Override
            public void onSegmentClosed(long ordinal, int segment) {
                // What matters here are the entries.
            }
        };
        while (cursor.poll(handler, 64) > 0) {
            Thread.onSpinWait();
        }
        return landed;
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    public EndpointSettings settings() {
        return settings;
    }

    public ReceiveQueue queue() {
        return endpoint.receiveQueue();
    }

    public AdjustableView view() {
        return view;
    }

    public AtomicLong credit() {
        return credit;
    }

    public List<Received> received() {
        return received;
    }

    @Override
    public void close() {
        endpoint.close();
    }
}
