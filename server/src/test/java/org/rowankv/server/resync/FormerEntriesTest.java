package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** What a server had before it left a shard, and which of it takes effect again. */
@Tag("mocked")
final class FormerEntriesTest {
    private static final int OWNER = 1;
    private static final int EPOCH = 2;
    private static final int PRIMARY = 1;
    private static final int COUNT = 40;

    private final LoggedServer logged = new LoggedServer(0);
    private final LoggedServer loggedThere = new LoggedServer(PRIMARY);
    private final ManualClock clock = new ManualClock();
    private final DigestAgent digest = mock(DigestAgent.class, RETURNS_DEEP_STUBS);
    private final CurrentRoles roles = mock(CurrentRoles.class, RETURNS_DEEP_STUBS);
    private final CopyListener copies = mock(CopyListener.class);
    private final List<Long> effective = new ArrayList<>();
    /** Of which no answer has come. */
    private final List<ByteBuffer> questions = new ArrayList<>();

    private final OwnedCounter reused = new OwnedCounter();
    private boolean answers = true;
    private Segments segments;
    private ShardReplica joining;
    private Replicas replicas;
    private FormerEntries former;

    @BeforeEach
    void answer() {
        announced(EPOCH);
        when(roles.get().epoch(0)).thenReturn(EPOCH);
        when(roles.get().configuration().shard(0).primary()).thenReturn(PRIMARY);
        when(roles.get().configuration().shard(0).epoch()).thenReturn(EPOCH);
        doAnswer(call -> {
                    takeEffect(call.getArgument(0), call.getArgument(1), call.getArgument(2));
                    return null;
                })
                .when(digest)
                .takeEffect(anyLong(), anyInt(), anyInt());
    }

    private void announced(int epoch) {
        when(digest.reserve().epoch(0)).thenReturn(epoch);
    }

    private void takeEffect(long address, int type, int length) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        assertThat(FrameDescriptor.tag(entry, at)).isEqualTo(EPOCH);
        effective.add(EntryDescriptor.version(entry, at));
        final int unused = joining.apply(OWNER, joining.positionOf(entry, at, new byte[256]), address, type, length);
    }

    /** The server returns, as a joining one. */
    private void start() {
        final RecoveredServer there = loggedThere.start();
        when(copies.ask(eq(PRIMARY), eq(0), anyInt(), any())).thenAnswer(call -> {
            final ByteBuffer question = call.getArgument(3);
            assertThat(PresentEntries.whyInvalid(question)).isNull();
            questions.add(question);
            final long askedNs = clock.nanoTime();
            return new Inquiry() {
                @Override
                public boolean isOver() {
                    return answers || clock.nanoTime() - askedNs >= Inquiry.PATIENCE_NS;
                }

                @Override
                public @Nullable BitSet answer() {
                    return answers ? answerTo(there, question) : null;
                }
            };
        });
        final RecoveredServer read = logged.start();
        read.keepFormer();
        segments = read.segments();
        joining = new ShardReplica(0, 1, LoggedServer.HASH, segments, EPOCH);
        joining.beginJoining();
        replicas = new Replicas(new ShardReplica[] {joining});
        former = new FormerEntries(0, segments, replicas, digest, roles, copies, clock, reused);
    }

    private BitSet answerTo(RecoveredServer there, ByteBuffer question) {
        questions.remove(question);
        return PresentEntries.presentIn(there.replicas().get(0), there.segments(), question);
    }

    private void run() {
        for (int turns = 0; !former.isOver(); turns++) {
            assertThat(turns).isLessThan(10_000);
            final int unused = former.advance();
        }
    }

    private void both(long version, String key, int length) {
        logged.put(version, key, length);
        loggedThere.put(version, key, length);
    }

    private static long version(int i) {
        return Version.of(1, i + 1);
    }

    @Test
    void shouldTakeWhatIsCurrentThere() {
        for (int i = 0; i < COUNT; i++) {
            both(version(i), "key" + i, 10);
        }
        loggedThere.put(version(100), "key0", 10);
        loggedThere.write(EntryType.DELETE, version(101), "key1", 0, 0, 0);
        logged.put(version(200), "key2", 10); // never replicated
        logged.put(version(201), "key" + COUNT, 10);
        start();
        run();
        final List<Long> expected = new ArrayList<>();
        for (int i = 2; i < COUNT; i++) {
            expected.add(version(i));
        }
        assertThat(effective).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(reused.get()).isEqualTo(COUNT - 2);
        assertThat(segments.former().newestFirst()).isEmpty();
    }

    /** It may be older than any tombstone here, and is on the device before a copy begins. */
    @Test
    void shouldAppendItToALogOfCopiesThatIsClosed() {
        both(version(0), "key", 10);
        start();
        run();
        final int segment = segments.segmentOf(addressOf());
        assertThat(segments.owner(segment)).isEqualTo(SegmentOwner.CLEAN);
        assertThat(segments.horizon(segment)).isEqualTo(1);
        assertThat(segments.isClosed(segment)).isTrue();
    }

    private long addressOf() {
        final long[] found = new long[1];
        joining.index().lock(OWNER);
        try {
            long position = 0;
            do {
                position = joining.index().visit(position, address -> found[0] = address);
            } while (position != 0);
        } finally {
            joining.index().unlock();
        }
        return found[0];
    }

    /** A version with another checksum is no copy of the same entry: one of the two is damaged. */
    @Test
    void shouldNotTakeWhatDiffers() {
        logged.put(version(0), "key", 10);
        loggedThere.put(version(0), "key", 11);
        start();
        run();
        assertThat(effective).isEmpty();
    }

    /** Twice in the log, as an interrupted cleaner leaves it. */
    @Test
    void shouldTakeAnEntryOnce() {
        both(version(0), "key", 10);
        logged.closeSegment();
        logged.put(version(0), "key", 10);
        start();
        run();
        assertThat(effective).containsExactly(version(0));
    }

    @Test
    void shouldLeaveWhatIsNewerHereAlone() {
        both(version(0), "key", 10);
        start();
        answers = false;
        while (questions.isEmpty()) {
            former.advance();
        }
        final long newer = write(Version.of(EPOCH, 1), "key");
        answers = true;
        run();
        assertThat(addressOf()).isEqualTo(newer);
    }

    /** An entry of this tenure, which takes effect; returns its address. */
    private long write(long version, String key) {
        final byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        final EntryDraft draft = new EntryDraft();
        draft.begin(EntryType.PUT, 0, LoggedServer.CACHE)
                .key(bytes, 0, bytes.length)
                .version(version);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, EPOCH);
        final long position = joining.positionOf(LoggedServer.HASH.hash(LoggedServer.CACHE, bytes, 0, bytes.length));
        assertThat(joining.apply(OWNER, position, address, EntryType.PUT, length))
                .isZero();
        return address;
    }

    @Test
    void shouldNotAskBeforeTheCopyIsAnnounced() {
        both(version(0), "key", 10);
        start();
        announced(0);
        for (int i = 0; i < 10; i++) {
            clock.advanceNs(Inquiry.PATIENCE_NS);
            assertThat(former.advance()).isZero();
        }
        assertThat(questions).isEmpty();
        assertThat(former.isOver()).isFalse();
        announced(EPOCH);
        run();
        assertThat(effective).containsExactly(version(0));
    }

    /** Its index may miss what was on its way to the replicas of before. */
    @Test
    void shouldNotAskAPrimaryThatHasAnnouncedNothingInItsEpoch() {
        both(version(0), "key", 10);
        start();
        announced(EPOCH - 1);
        for (int i = 0; i < 10; i++) {
            clock.advanceNs(Inquiry.PATIENCE_NS);
            assertThat(former.advance()).isZero();
        }
        assertThat(questions).isEmpty();
        announced(EPOCH);
        run();
        assertThat(effective).containsExactly(version(0));
    }

    private void nextEpoch() {
        when(roles.get().epoch(0)).thenReturn(EPOCH + 1);
        when(roles.get().configuration().shard(0).epoch()).thenReturn(EPOCH + 1);
    }

    /** What was read in one epoch is asked for in no other one before the copy is announced in that. */
    @Test
    void shouldReadAgainWhenTheEpochChangesBeforeItAsks() {
        both(version(0), "key", 10);
        start();
        assertThat(former.advance()).isPositive(); // announced
        assertThat(former.advance()).isPositive(); // read
        nextEpoch();
        for (int i = 0; i < 10; i++) {
            final int unused = former.advance();
        }
        assertThat(questions).isEmpty();
        assertThat(effective).isEmpty();
        announced(EPOCH + 1);
        run();
        assertThat(effective).containsExactly(version(0));
    }

    @Test
    void shouldReadAgainWhenTheEpochChangesBeforeTheAnswer() {
        both(version(0), "key", 10);
        start();
        answers = false;
        while (questions.isEmpty()) {
            former.advance();
        }
        nextEpoch();
        for (int i = 0; i < 10; i++) {
            final int unused = former.advance();
        }
        assertThat(questions).hasSize(1);
        announced(EPOCH + 1);
        for (int i = 0; i < 10; i++) {
            final int unused = former.advance();
        }
        assertThat(questions).as("the first answer is not awaited").hasSize(2);
        answers = true;
        run();
        assertThat(effective).containsExactly(version(0));
    }

    /** The answer was that of a primary whose later entries this replica does not receive. */
    @Test
    void shouldNotUseAnAnswerForAnotherTenure() {
        both(version(0), "key", 10);
        start();
        answers = false;
        while (questions.isEmpty()) {
            former.advance();
        }
        replicas.end(joining);
        joining = new ShardReplica(0, 1, LoggedServer.HASH, segments, EPOCH);
        joining.beginJoining();
        replicas.begin(joining);
        answers = true;
        run();
        assertThat(effective).isEmpty();
    }

    @Test
    void shouldNotWaitForAPrimaryThatDoesNotAnswer() {
        for (int segment = 0; segment < 12; segment++) {
            both(version(segment), "key" + segment, 10);
            logged.closeSegment();
        }
        start();
        answers = false;
        int turns = 0;
        while (questions.isEmpty()) {
            turns++;
            assertThat(turns).isLessThan(100);
            former.advance();
        }
        clock.advanceNs(Inquiry.PATIENCE_NS);
        run();
        assertThat(questions).hasSize(1);
        assertThat(effective).isEmpty();
    }

    /** The cleaner has freed the segment while the answer was on its way, and another log writes there. */
    @Test
    void shouldGiveUpASegmentThatIsInUseAgain() {
        both(version(0), "key", 10);
        logged.closeSegment();
        both(version(1), "key1", 10);
        start();
        answers = false;
        while (questions.isEmpty()) {
            former.advance();
        }
        answers = true;
        final int freed = segments.former().newestFirst().get(0);
        segments.former().free(freed);
        assertThat(segments.allocate(SegmentOwner.WORKER, 0)).isEqualTo(freed);
        run();
        assertThat(effective).containsExactly(version(0));
    }

    @Test
    void shouldEndWithoutRoom() {
        for (int i = 0; i < COUNT; i++) {
            both(version(i), "key" + i, 10);
        }
        start();
        while (segments.allocate(SegmentOwner.WORKER, 0) >= 0) {
            // Another log takes all.
        }
        for (int turns = 0; !former.isOver(); turns++) {
            assertThat(turns).isLessThan(200);
            clock.advanceMs(100);
            former.advance();
        }
        assertThat(effective).isEmpty();
        assertThat(segments.former().newestFirst()).isEmpty();
    }
}
