package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.ShardReplica;

/** What a copy leaves out, since the receiver holds it. */
final class InventoryTest {
    private static final int EPOCH = 2;
    /** More than one question. */
    private static final int COUNT = 3000;

    private static final int ENTRY = 20;

    private final LoggedServer logged = new LoggedServer(0);
    private final LoggedServer loggedThere = new LoggedServer(1);
    private final ByteBuffer target = ByteBuffer.allocateDirect(4096).order(ByteOrder.LITTLE_ENDIAN);
    private final List<ByteBuffer> questions = new ArrayList<>();

    private static long version(int i) {
        return Version.of(1, i + 1);
    }

    private Set<Long> copied(CopySource source) {
        final Set<Long> copied = new HashSet<>();
        for (int length = source.next(0, target.capacity());
                length != CopySource.END;
                length = source.next(0, target.capacity())) {
            if (length > 0) {
                assertThat(copied.add(EntryDescriptor.version(target, 0))).isTrue();
            }
        }
        return copied;
    }

    private CopySource source(RecoveredServer there) {
        final RecoveredServer here = logged.start();
        final ShardReplica other = there.replicas().get(0);
        return new CopySource(
                here.segments(),
                here.replicas().get(0),
                EPOCH,
                question -> {
                    assertThat(PresentEntries.whyInvalid(question)).isNull();
                    questions.add(question);
                    final BitSet held = PresentEntries.presentIn(other, there.segments(), question);
                    return new Inquiry() {
                        private boolean isOver;

                        @Override
                        public boolean isOver() {
                            final boolean wasOver = isOver;
                            isOver = true;
                            return wasOver;
                        }

                        @Override
                        public BitSet answer() {
                            return held;
                        }
                    };
                },
                target);
    }

    /** One of so many is missing there. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 100})
    void shouldCopyWhatTheReceiverLacks(int oneOf) {
        final Set<Long> lacking = new HashSet<>();
        for (int i = 0; i < COUNT; i++) {
            logged.put(version(i), "key" + i, 10);
            if (i % oneOf == 0) {
                lacking.add(version(i));
            } else {
                loggedThere.put(version(i), "key" + i, 10);
            }
        }
        final CopySource source = source(loggedThere.start());
        assertThat(copied(source)).isEqualTo(lacking);
        assertThat(source.presentThere()).isEqualTo(COUNT - lacking.size());
    }

    @Test
    void shouldCopyWhatIsOlderOrOtherwiseDifferentThere() {
        logged.put(version(10), "newer", 10);
        loggedThere.put(version(0), "newer", 10);
        logged.put(version(11), "damaged", 10);
        loggedThere.put(version(11), "damaged", 12);
        logged.put(version(12), "deleted", 10);
        loggedThere.put(version(12), "deleted", 10);
        loggedThere.write(EntryType.DELETE, version(20), "deleted", 0, 0, 0);
        logged.put(version(13), "held", 10);
        loggedThere.put(version(13), "held", 10);
        assertThat(copied(source(loggedThere.start())))
                .containsExactlyInAnyOrder(version(10), version(11), version(12));
    }

    /** Its body may be the same as that of an object: both can be empty. */
    @Test
    void shouldNotTakeADeletionForAnObject() {
        final long address = logged.write(EntryType.DELETE, version(0), "key", 0, 0, 0);
        final RecoveredServer here = logged.start();
        final ShardReplica replica = here.replicas().get(0);
        final ByteBuffer entry = here.segments().region().buffer(address);
        final int at = here.segments().region().offset(address);
        final long position = replica.positionOf(entry, at, new byte[256]);
        assertThat(replica.index().candidate(position, 0)).isEqualTo(address);
        assertThat(PresentEntries.isPresent(
                        replica, here.segments(), position, version(0), FrameDescriptor.bodyCrc(entry, at)))
                .isFalse();
    }

    @Test
    void shouldCopyWhatLiesWhereAHeldEntryLay() {
        final long address = logged.put(version(0), "key", 10);
        final RecoveredServer here = logged.start();
        final Inventory inventory = new Inventory(
                here.segments(),
                here.replicas().get(0),
                Version.of(EPOCH, 0),
                question -> Inquiry.over(BitSet.valueOf(new long[] {1})));
        assertThat(inventory.isKnown(0)).isTrue();
        assertThat(inventory.has(address, version(0))).isTrue();
        assertThat(inventory.has(address, version(1))).isFalse();
        assertThat(inventory.has(address + 64, version(0))).isFalse();
    }

    /** A replica that begins empty is not asked about all. */
    @Test
    void shouldNotAskForEverWhatHoldsNothing() {
        for (int i = 0; i < COUNT; i++) {
            logged.put(version(i), "key" + i, 10);
        }
        assertThat(copied(source(loggedThere.start()))).hasSize(COUNT);
        assertThat(questions).hasSize(1);
    }

    @Test
    void shouldAskAgainWhereLittleIsHeld() {
        for (int i = 0; i < COUNT; i++) {
            logged.put(version(i), "key" + i, 10);
            if (i % 30 == 0) {
                loggedThere.put(version(i), "key" + i, 10);
            }
        }
        assertThat(copied(source(loggedThere.start()))).hasSize(COUNT - COUNT / 30);
        assertThat(questions).hasSizeGreaterThan(1);
    }

    @Test
    void shouldNameWhatIsNoQuestion() {
        assertThat(PresentEntries.whyInvalid(ByteBuffer.allocate(0))).isNull();
        assertThat(PresentEntries.whyInvalid(ByteBuffer.allocate(ENTRY * PresentEntries.MOST)))
                .isNull();
        assertThat(PresentEntries.whyInvalid(ByteBuffer.allocate(ENTRY + 1))).contains("21 bytes");
        assertThat(PresentEntries.whyInvalid(ByteBuffer.allocate(ENTRY * (PresentEntries.MOST + 1))))
                .isNotNull();
    }
}
