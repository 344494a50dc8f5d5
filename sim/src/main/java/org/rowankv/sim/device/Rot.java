package org.rowankv.sim.device;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;

/**
 * Random choice of bits to flip in a server's area: in entries of any kind and age, and in the tables before the
 * segments.
 */
public final class Rot {
    private static final int FRONT_ONE_IN = 6;
    /** Both copies of a superblock, a page each. */
    private static final int SUPERBLOCKS = 2 * 4096;

    private static final int TRIES = 8;

    private final Server server;
    private final Segments segments;
    private final RandomSource random;

    public Rot(Server server, RandomSource random) {
        this.server = server;
        this.segments = server.segments();
        this.random = random;
    }

    /**
     * While the server runs; null if nothing was found. It excludes the tables before the segments, which the server
     * has read by then.
     */
    public @Nullable RottenBit inUse() {
        return ofEntry();
    }

    /** Between two processes; null if nothing was found. */
    public @Nullable RottenBit atAStart() {
        if (random.nextInt(FRONT_ONE_IN) > 0) {
            return ofEntry();
        }
        final int base = (int) segments.area().segmentBase();
        final int part = random.nextInt(2);
        final int at = part == 0
                ? random.nextInt(2) * 4096 + random.nextInt(128)
                : SUPERBLOCKS + random.nextInt(base - SUPERBLOCKS);
        return new RottenBit(at, mask(), part == 0 ? "a superblock" : "a table", 0, 0);
    }

    /** Whether the error reports that a server takes no checkpoint of damaged data. */
    public static boolean isRefusedCheckpoint(ErrorLog.Observation error, int server) {
        final String message = error.message();
        return error.type().equals(IOException.class.getName())
                && error.where().endsWith("checkpoint of server " + server)
                && message != null
                && message.contains("is damaged in its ");
    }

    private int mask() {
        return 1 << random.nextInt(Byte.SIZE);
    }

    private @Nullable RottenBit ofEntry() {
        for (int i = 0; i < TRIES; i++) {
            final int segment = random.nextInt(segments.count());
            if (segments.generation(segment) != 0 && isTold(segments.state(segment))) {
                final List<Long> entries = entriesOf(segment);
                if (!entries.isEmpty()) {
                    // The last landed entry may not be digested yet.
                    final boolean isNewest = segments.owner(segment) == SegmentOwner.BACKUP && random.nextInt(4) == 0;
                    return bitOf(entries.get(isNewest ? entries.size() - 1 : random.nextInt(entries.size())));
                }
            }
        }
        return null;
    }

    /**
     * Whether damage there is distinguishable from a torn write after a power cut. At the level power that requires
     * that everything is known to have been forced.
     */
    private boolean isTold(SegmentState state) {
        return segments.area().durability() == Durability.POWER
                ? state == SegmentState.COMMITTED
                : state != SegmentState.FREE;
    }

    private List<Long> entriesOf(int segment) {
        final List<Long> entries = new ArrayList<>();
        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(segment),
                        segments.length(),
                        segments.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                if (segments.owner(segment) != SegmentOwner.WORKER || isAtRest(buffer, at)) {
                                    entries.add(address);
                                }
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                // Damaged already, or being written.
                            }
                        });
        return entries;
    }

    /** Excludes entries that a primary is writing now: those are in the processor's caches, not on the medium. */
    private boolean isAtRest(ByteBuffer buffer, int at) {
        final int shard = EntryDescriptor.shard(buffer, at);
        return !server.isPrimary(shard) || EntryDescriptor.version(buffer, at) <= server.finishedVersion(shard);
    }

    private RottenBit bitOf(long frame) {
        final ByteBuffer buffer = segments.region().buffer(frame);
        final int at = segments.region().offset(frame);
        final long word = FrameDescriptor.wordAcquire(buffer, at);
        final int length = FrameDescriptor.length(word);
        final int header = Math.min(length, 64);
        return switch (random.nextInt(5)) {
            case 0 -> new RottenBit(frame + random.nextInt(Long.BYTES), mask(), "a word", frame, word);
            case 1 ->
                new RottenBit(frame + random.nextInt(FrameDescriptor.HEADER_LENGTH), mask(), "a frame", frame, word);
            case 2 ->
                new RottenBit(
                        frame + EntryDescriptor.FRAME_LENGTH + random.nextInt(header - EntryDescriptor.FRAME_LENGTH),
                        mask(),
                        "a header",
                        frame,
                        word);
            default -> new RottenBit(frame + random.nextInt(length), mask(), "an entry", frame, word);
        };
    }
}
