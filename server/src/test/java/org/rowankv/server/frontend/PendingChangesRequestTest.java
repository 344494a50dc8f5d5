package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.shard.ShardChanges;

/** A question for changes of a shard whose role leaves, or whose server has no lease. */
final class PendingChangesRequestTest {
    private static final int CACHE = 3;

    /** A server and its port; the role leaves when that many more questions about it are answered. */
    private static final class Primary implements RequestBackend, PendingChangesRequest.Source {
        private final ShardChanges changes = new ShardChanges(1);
        private long last = 100;
        private boolean isLeased = true;
        private int isPrimaryFor = Integer.MAX_VALUE;

        private boolean isStillPrimary() {
            return isPrimaryFor-- > 0;
        }

        @Override
        public RequestBackend served() {
            return this;
        }

        @Override
        public Status whyNotServed(int shard, long clientTerm) {
            return isStillPrimary() ? Status.OK : Status.NOT_PRIMARY;
        }

        @Override
        public int maxFrame() {
            return 1 << 20;
        }

        @Override
        public int serverId() {
            return 0;
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isPrimary(int shard) {
            return isStillPrimary();
        }

        @Override
        public boolean isServing() {
            return true;
        }

        @Override
        public boolean mayAnswer() {
            return isLeased;
        }

        @Override
        public ShardChanges changes(int shard) {
            return changes;
        }

        @Override
        public long lastVersion(int shard) {
            return isStillPrimary() ? last : 0;
        }

        @Override
        public long finishedVersion(int shard) {
            return lastVersion(shard);
        }

        @Override
        public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
            return 0;
        }
    }

    private final Primary primary = new Primary();

    private static PendingChangesRequest question(long from) {
        final FrameEncoder out = new FrameEncoder(1 << 10);
        final int at = ChangesRequestDescriptor.begin(out, 1, 1, 0, 1);
        ChangesRequestDescriptor.section(out, at, 0, from, CACHE, 0, false);
        ChangesRequestDescriptor.end(out, at);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            assertThat(out.writeTo(Channels.newChannel(bytes))).isTrue();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new PendingChangesRequest(1, ByteBuffer.wrap(bytes.toByteArray()).order(ByteOrder.LITTLE_ENDIAN), 0, 0);
    }

    private Section section(PendingChangesRequest question) {
        final List<Section> sections = question.sections(primary, true);
        assertThat(sections).hasSize(1);
        return sections.get(0);
    }

    @BeforeEach
    void change() {
        assertThat(question(ChangesRequestDescriptor.FROM_NOW).begin(primary, 0))
                .isNotNull();
        primary.last = 101;
        primary.changes.add(CACHE, new Change(101, ChangeType.CREATED, new byte[] {1}, new byte[] {2}, null));
    }

    /** They are committed: no other primary takes them back. */
    @Test
    void shouldReportChangesWithoutALease() {
        primary.isLeased = false;
        final Section section = section(question(100));
        assertThat(section.status()).isEqualTo(Status.OK);
        assertThat(section.changes()).hasSize(1);
        assertThat(section.to()).isEqualTo(101);
    }

    /** Behind a write that the client has seen, another primary may have given out later versions. */
    @Test
    void shouldBeginAStreamWithALeaseOnly() {
        final PendingChangesRequest question = question(ChangesRequestDescriptor.FROM_NOW);
        assertThat(question.begin(primary, 0)).isNotNull();
        primary.isLeased = false;
        assertThat(section(question).status()).isEqualTo(Status.NOT_PRIMARY);
        primary.isLeased = true;
        assertThat(section(question).status()).isEqualTo(Status.OK);
        assertThat(section(question).to()).isEqualTo(101);
    }

    /** BAD_REQUEST would end the client's stream for good, and a position of no version would skip changes. */
    @Test
    void shouldSendTheClientElsewhereWhereverTheRoleLeaves() {
        int questions = 0;
        for (Status status = Status.NOT_PRIMARY; status != Status.OK; questions++) {
            primary.isPrimaryFor = questions;
            final Section section = section(question(100));
            status = section.status();
            assertThat(status).as("role left behind question " + questions).isIn(Status.OK, Status.NOT_PRIMARY);
            assertThat(section.changes()).hasSize(status == Status.OK ? 1 : 0);
        }
        assertThat(questions).as("moments in which the role left").isGreaterThan(3);
    }
}
