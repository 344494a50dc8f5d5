package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.rowankv.rdma.CreditSource;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.local.LocalFabric;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** A backup's area with one shard and the agents of its backup log, driven by the test, which delivers the landings. */
final class LandingServer {
    private static final int SEGMENT = 64 << 10;

    final Segments segments;
    final ShardReplica replica;
    final Replicas replicas;
    final DigestAgent digest;
    final ControlAgent control;
    final EndpointSettings settings;
    private final AppendLog log;
    private final LocalFabric fabric = new LocalFabric();

    LandingServer() {
        final Area area = Area.create(
                new AreaSettings(null, 1 << 20, SEGMENT, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));
        segments = new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
        replica = new ShardReplica(0, 1, new KeyHash(11), segments, 1);
        replicas = new Replicas(new ShardReplica[] {replica});
        settings = new EndpointSettings(
                0,
                1,
                5,
                area.region(),
                SEGMENT,
                area.segmentBase(),
                4,
                new NoCredit(),
                (from, incarnation, message) -> {},
                new OneServer(),
                null);
        final ReceiveQueue queue = fabric.open(settings).receiveQueue();
        digest = new DigestAgent(queue, settings, segments, replicas, new ManualClock(), Long.MAX_VALUE);
        control = new ControlAgent(queue, segments, replicas, 1);
        log = new AppendLog(segments, SegmentOwner.BACKUP);
    }

    /** The connection of another server, whose entries land in this one's backup log. */
    QueuePair sender() {
        final EndpointSettings other = new EndpointSettings(
                1,
                1,
                5,
                MemoryRegion.of(AlignedBuffers.allocate(SEGMENT, FrameDescriptor.STRIDE)),
                SEGMENT,
                0,
                1,
                new NoCredit(),
                (from, incarnation, message) -> {},
                new OneServer(),
                null);
        return fabric.open(other).connect(0, 1, 1);
    }

    /** An entry lands, and is digested. */
    void land(EntryDraft draft) {
        land(draft, 1);
    }

    /** As above, under that epoch. */
    void land(EntryDraft draft, int tag) {
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        final long address = log.append(draft, tag);
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordPlain(buffer, at);
        digest.onFrame(segments.segmentOf(address), address, FrameDescriptor.type(word), FrameDescriptor.length(word));
        final int unused = digest.doWork();
    }

    private static final class NoCredit implements CreditSource {
        @Override
        public long acquire(long requested) {
            return 0;
        }

        @Override
        public void release(long bytes) {
            throw new AssertionError("none was granted");
        }
    }

    private static final class OneServer implements MembershipView {
        @Override
        public long term() {
            return 1;
        }

        @Override
        public long startTerm() {
            return 1;
        }

        @Override
        public boolean admits(int serverId, long incarnation, long term) {
            return true;
        }
    }
}
