package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.topology.KeyHash;

/**
 * A backup log is an operation log: however many entries the digest finds in each of its cycles, in the end the replica
 * is the same. Entries land through the fabric, also late, twice, and in blocks.
 */
final class DigestBatchesTest {
    private static final int CACHE = 3;
    private static final int KEYS = 12;
    private static final int ENTRIES = 150;
    /** Entries by which one may land late. */
    private static final int LATE = 4;

    private static final int PAYLOAD = 192;
    private static final KeyHash HASH = new KeyHash(11);

    /** A landing: its bytes begin with a frame. */
    private record Landing(ByteBuffer bytes, int length) {}

    private static byte[] key(int number) {
        return ("key-" + number).getBytes(StandardCharsets.US_ASCII);
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void addWhole(EntryDraft draft, List<Landing> landings) {
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        final ByteBuffer bytes = buffer(length);
        final int crc = draft.writeBody(bytes, 0);
        FrameDescriptor.source(bytes, 0, length, draft.type(), crc);
        landings.add(new Landing(bytes, length));
    }

    /** As blocks, in the way of an entry that is longer than a message. */
    private static void addBlocks(EntryDraft draft, List<Landing> landings) {
        final int used = (int) draft.usedLength();
        final ByteBuffer entry = buffer(EntryDescriptor.aligned(used));
        final int crc = draft.writeBody(entry, 0);
        final int body = used - EntryDescriptor.FRAME_LENGTH;
        for (int start = 0; start < body; start += PAYLOAD) {
            final int payload = Math.min(PAYLOAD, body - start);
            final int blockUsed = BlockDescriptor.PAYLOAD_OFFSET + payload;
            final int length = EntryDescriptor.aligned(blockUsed);
            final ByteBuffer block = buffer(length);
            BlockDescriptor.header(
                    block,
                    0,
                    draft.version(),
                    0,
                    0,
                    body,
                    start,
                    payload,
                    crc,
                    (body + PAYLOAD - 1) / PAYLOAD,
                    draft.type());
            block.put(BlockDescriptor.PAYLOAD_OFFSET, entry, EntryDescriptor.FRAME_LENGTH + start, payload);
            final int blockCrc = new FrameChecksum()
                    .body(block, EntryDescriptor.FRAME_LENGTH, blockUsed - EntryDescriptor.FRAME_LENGTH);
            FrameDescriptor.source(block, 0, length, EntryType.BLOCK, blockCrc);
            landings.add(new Landing(block, length));
        }
    }

    /** What a primary sends: operations with their versions, and records of CommitVer. */
    private static List<Landing> history(Random random) {
        final List<List<Landing>> operations = new ArrayList<>();
        for (int i = 1; i <= ENTRIES; i++) {
            final List<Landing> operation = new ArrayList<>();
            final byte[] key = key(random.nextInt(KEYS));
            final boolean isEnd = random.nextInt(4) == 0;
            final EntryDraft draft = new EntryDraft()
                    .begin(isEnd ? EntryType.DELETE : EntryType.PUT, 0, CACHE)
                    .key(key, 0, key.length)
                    .version(Version.of(1, i))
                    .withoutSpace();
            if (isEnd) {
                addWhole(draft, operation);
            } else if (random.nextInt(6) == 0) {
                addBlocks(draft.value(new byte[400 + i], 0, 400 + i), operation);
            } else {
                addWhole(draft.value(new byte[i], 0, i), operation);
            }
            operations.add(operation);
        }
        final List<Landing> landings = new ArrayList<>();
        for (int from = 0; from < ENTRIES; from += LATE) {
            final List<List<Landing>> few = new ArrayList<>(operations.subList(from, Math.min(ENTRIES, from + LATE)));
            Collections.shuffle(few, random);
            few.forEach(landings::addAll);
            if (random.nextInt(3) == 0) {
                landings.addAll(few.get(0));
            }
            if (random.nextBoolean()) {
                final byte[] pairs = new byte[CommitVector.length(1)];
                CommitVector.set(pairs, 0, 0, Version.of(1, Math.min(ENTRIES, from + LATE)));
                addWhole(new EntryDraft().begin(EntryType.COMMIT_VECTOR, 0, 0).value(pairs, 0, pairs.length), landings);
            }
        }
        return landings;
    }

    /** Digests what has landed after each landing, with that probability. */
    private static List<String> replay(List<Landing> landings, Random random, double oftenness) {
        final LandingServer server = new LandingServer();
        final QueuePair sender = server.sender();
        for (final Landing landing : landings) {
            int status;
            do {
                status = sender.send(1, landing.bytes(), 0, landing.length(), 1);
                if (status == PostStatus.RECEIVER_NOT_READY) {
                    assertThat(server.control.doWork()).isPositive();
                }
            } while (status == PostStatus.RECEIVER_NOT_READY);
            assertThat(status).isEqualTo(PostStatus.POSTED);
            assertThat(sender.poll((context, landed) -> {}, 8)).isEqualTo(1);
            if (random.nextDouble() < oftenness) {
                final int unused = server.digest.doWork();
            }
        }
        int idle = 0;
        while (idle < 3) {
            idle = server.digest.doWork() == 0 ? idle + 1 : 0;
        }
        return stateOf(server);
    }

    private static List<String> stateOf(LandingServer server) {
        final List<String> state = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            final byte[] key = key(i);
            final long position = server.replica.positionOf(HASH.hash(CACHE, key, 0, key.length));
            final long address = server.replica.index().find(position, CACHE, key, 0, key.length);
            if (address != 0) {
                final ByteBuffer log = server.segments.region().buffer(address);
                final int at = server.segments.region().offset(address);
                state.add(i + ": " + FrameDescriptor.type(FrameDescriptor.wordPlain(log, at)) + " "
                        + EntryDescriptor.version(log, at) + " " + EntryDescriptor.valueLength(log, at));
            }
        }
        state.add("items " + server.replica.index().count());
        state.add("CommitVer " + server.replica.commitVersion());
        return state;
    }

    @Property(tries = 60)
    void shouldBeTheSameReplicaHoweverTheLogIsSplit(@ForAll long seed) {
        final List<Landing> landings = history(new Random(seed));
        final List<String> atOnce = replay(landings, new Random(seed), 0);
        final List<String> oneByOne = replay(landings, new Random(seed), 1);

        assertThat(atOnce).hasSizeGreaterThan(2);
        assertThat(oneByOne).isEqualTo(atOnce);
        for (int split = 0; split < 3; split++) {
            final Random random = new Random(seed + split + 1);
            assertThat(replay(landings, random, random.nextDouble())).isEqualTo(atOnce);
        }
    }
}
