package org.rowankv.bench.trace;

import java.nio.ByteBuffer;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.area.AreaDescriptor;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentMetaTable;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;
import org.rowankv.server.durability.MemoryVerbs;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;

/**
 * An area's memory that reports each write to a {@link WriteTrace}: those of the server as it flushes them, landings as
 * their senders do. It stands behind the durability seam, so the
 * product has no code for it.
 *
 * <p>A log flushes again what it has written, when it closes a segment for example. Logs are written in order of
 * address, so only what lies behind the last write of a segment's use is a new one. Landings are reported once each.
 */
final class TappedMemory implements AreaMemory {
    private static final int PAPER_METADATA = 16;

    private final AreaMemory below;
    private final WriteTrace trace;
    private final int server;
    private final long segmentBase;
    private final int segmentLength;
    private final SegmentMetaTable table;
    private final DurabilityVerbs verbs = new Verbs();
    /** By segment: the end of its last new write, and the use that this belongs to. One thread writes a segment. */
    private final long[] writtenUpTo;

    private final int[] uses;

    TappedMemory(AreaSettings settings, AreaMemory below, WriteTrace trace) {
        this.below = below;
        this.trace = trace;
        this.server = settings.serverId();
        this.segmentLength = settings.segmentLength();
        this.segmentBase =
                AreaDescriptor.segmentBase(settings.shardCount(), settings.segmentCount(), settings.segmentLength());
        this.table = new SegmentMetaTable(
                below.header(),
                new MemoryVerbs(),
                AreaDescriptor.segmentMetaOffset(settings.shardCount()),
                settings.segmentCount());
        this.writtenUpTo = new long[settings.segmentCount()];
        this.uses = new int[settings.segmentCount()];
    }

    int server() {
        return server;
    }

    long segmentBase() {
        return segmentBase;
    }

    /** For the endpoint over this area. */
    LandingForce landings() {
        return new Landings();
    }

    private final class Verbs implements DurabilityVerbs {
        @Override
        public void flush(long address, long length) {
            if (address < segmentBase) {
                trace.add(WriteOwner.TABLE, server, address, 0, (int) length, (int) length, false);
                return;
            }
            final int segment = (int) ((address - segmentBase) / segmentLength);
            final SegmentOwner owner = table.owner(segment);
            if (owner != SegmentOwner.BACKUP && isNew(segment, address, length)) {
                report(WriteOwner.of(owner), address, segment, (int) length);
            }
        }

        private boolean isNew(int segment, long address, long length) {
            final int use = table.generation(segment);
            if (uses[segment] != use) {
                uses[segment] = use;
                writtenUpTo[segment] = address;
            }
            if (address < writtenUpTo[segment]) {
                return false;
            }
            writtenUpTo[segment] = address + length;
            return true;
        }

        @Override
        public void drain() {
            below.verbs().drain();
        }
    }

    private final class Landings implements LandingForce {
        @Override
        public void flush(long address, long length) {
            report(WriteOwner.BACKUP, address, (int) ((address - segmentBase) / segmentLength), (int) length);
        }

        @Override
        public long request() {
            return 1;
        }

        @Override
        public boolean isForced(long ticket) {
            return true;
        }
    }

    private void report(WriteOwner owner, long address, int segment, int length) {
        final ByteBuffer buffer = region().buffer(address);
        final int at = region().offset(address);
        final int type = FrameDescriptor.type(FrameDescriptor.wordAcquire(buffer, at));
        int paperLength = length;
        if (EntryType.isKeyed(type)) {
            paperLength = EntryDescriptor.aligned(
                    PAPER_METADATA + EntryDescriptor.keyLength(buffer, at) + EntryDescriptor.valueLength(buffer, at));
        }
        final boolean ofOperation = owner == WriteOwner.WORKER || owner == WriteOwner.BACKUP && isReplicated(type);
        trace.add(owner, server, address, table.generation(segment), length, paperLength, ofOperation);
    }

    private static boolean isReplicated(int type) {
        return FrameDescriptor.isEntryType(type) && type != EntryType.COMMIT_VECTOR;
    }

    @Override
    public MemoryRegion region() {
        return below.region();
    }

    @Override
    public boolean isMapped() {
        return below.isMapped();
    }

    @Override
    public ByteBuffer header() {
        return below.header();
    }

    @Override
    public void ensureBacked(long address) {
        below.ensureBacked(address);
    }

    @Override
    public DurabilityVerbs verbs() {
        return verbs;
    }

    @Override
    public DurabilityVerbs device() {
        return below.device();
    }

    @Override
    public void force(ForceRanges ranges) {
        below.force(ranges);
    }

    @Override
    public void flushAll() {
        below.flushAll();
    }
}
