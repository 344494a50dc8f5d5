package org.rowankv.server.scrub;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.cleaning.CleanedShard;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

/** Another server's entries are read while that server runs. */
@Tag("races")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SiblingReplicaTest {
    private static final int USES = TestScale.of(15_000, 60_000);
    private static final byte[] KEY = "k".getBytes(StandardCharsets.US_ASCII);
    private static final int VALUE = 60_000;
    private static final int SKEWS = 500;

    private final CleanedShard peer = new CleanedShard();
    private final SiblingReplica read = new SiblingReplica(peer.segments, peer.replica, () -> 0);
    private final long place = peer.write(EntryType.PUT, "k", VALUE);
    private final AppendLog log = new AppendLog(peer.segments, SegmentOwner.WORKER);
    private final byte[] value = new byte[VALUE];
    private final FrameChecksum checksum = new FrameChecksum();

    /** The segment is freed and filled again, with different bytes. */
    private void useAnew(int use) {
        Arrays.fill(value, (byte) use);
        final EntryDraft draft = new EntryDraft()
                .begin(EntryType.PUT, 0, CleanedShard.CACHE)
                .key(KEY, 0, KEY.length)
                .version(use)
                .value(value, 0, VALUE);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        // As fast as possible: a concurrent reader must meet the new bytes.
        peer.segments.free(peer.segments.segmentOf(place));
        if (!log.ensureRoom(length) || log.append(draft, 1) != place) {
            throw new AssertionError("use " + use + " is elsewhere");
        }
        log.retire();
    }

    private void useOften() {
        for (int use = 2; use <= USES; use++) {
            // So that a reader is met at every offset.
            for (int spin = 0; spin < use % SKEWS; spin++) {
                Thread.onSpinWait();
            }
            useAnew(use);
        }
    }

    @Test
    void shouldCopyWholeEntriesOnlyWhileTheirSegmentIsUsedAnew() throws InterruptedException {
        assertThat(peer.closeLog()).isTrue();
        useAnew(1);
        final long position = peer.positionOf("k");
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final Thread owner = new Thread(this::useOften);
        owner.setUncaughtExceptionHandler((thread, error) -> failure.set(error));
        owner.start();
        while (owner.isAlive()) {
            final ByteBuffer copy = read.find(position, entry -> true);
            if (copy != null) {
                requireWhole(copy);
            }
        }
        owner.join();
        assertThat(failure.get()).isNull();
        assertThat(read.find(position, entry -> true)).isNotNull();
    }

    /** The same at the one moment that threads seldom meet. */
    @Test
    void shouldDiscardACopyWhoseSegmentIsReusedBeforeItsEnd() {
        assertThat(peer.closeLog()).isTrue();
        useAnew(1);
        final SiblingReplica.Copy copy = read.begin(place);
        assertThat(copy).isNotNull();
        assertThat(read.finish(copy)).isNotNull();
        useAnew(2);
        assertThat(read.finish(copy)).isNull();
    }

    /** The replacement of a damaged entry relies on this. */
    private void requireWhole(ByteBuffer copy) {
        final int bodyLength = EntryDescriptor.usedLength(copy, 0) - EntryDescriptor.FRAME_LENGTH;
        final String reason = FrameDescriptor.whyBodyInvalid(copy, 0, bodyLength, checksum);
        if (reason != null) {
            throw new AssertionError("use " + EntryDescriptor.version(copy, 0) + ": " + reason);
        }
    }
}
