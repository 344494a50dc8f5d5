package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

/** The space that a backup takes for landed entries, and frees. */
final class DigestAgentTest {
    private static final long SESSION = 9;

    private final LandingServer server = new LandingServer();

    private static EntryDraft draft(int type, long version, long sequence) {
        return new EntryDraft()
                .begin(type, 0, 1)
                .request(SESSION, sequence, 0)
                .version(Version.of(1, version))
                .withoutSpace();
    }

    private static EntryDraft put(int epoch, long counter) {
        return new EntryDraft().begin(EntryType.PUT, 0, 1).version(Version.of(epoch, counter));
    }

    private long[] tail() {
        return server.replica.tail().versionsAbove(0);
    }

    private void commit(long version) {
        final byte[] pairs = new byte[CommitVector.length(1)];
        CommitVector.set(pairs, 0, 0, version);
        server.land(new EntryDraft().begin(EntryType.COMMIT_VECTOR, 0, 0).value(pairs, 0, pairs.length));
    }

    @Test
    void shouldListWhatTookEffectAboveCommitVer() {
        server.land(put(1, 1));
        server.land(put(1, 2));
        server.land(draft(EntryType.COMPLETION, 3, 1));
        server.land(put(1, 4));
        assertThat(tail()).containsExactly(Version.of(1, 1), Version.of(1, 2), Version.of(1, 4));

        commit(Version.of(1, 2));
        assertThat(tail()).containsExactly(Version.of(1, 4));
        server.land(put(1, 2));
        assertThat(tail()).as("a repetition").containsExactly(Version.of(1, 4));
    }

    /** It was acquired by a server that is excluded since, if at all. */
    @Test
    void shouldTakeSpaceForWhatANewPrimaryScatters() {
        server.replica.recovered(1);
        server.digest.beginEpoch(0, 3);
        final long before = server.segments.space().available();
        server.land(put(2, 1), 3);
        final long taken = before - server.segments.space().available();
        assertThat(taken).isPositive();
        server.land(put(2, 1), 3);
        assertThat(before - server.segments.space().available())
                .as("it is there already")
                .isEqualTo(taken);
        assertThat(tail()).containsExactly(Version.of(2, 1));

        server.land(put(3, 1), 3);
        assertThat(before - server.segments.space().available())
                .as("of the new primary, which has acquired space")
                .isLessThanOrEqualTo(taken);
    }

    /** Its copy was announced, and the space taken then; and what is scattered is no copy. */
    @Test
    void shouldTakeNoSpaceForWhatIsCopiedToAJoiningReplica() {
        server.replica.beginJoining();
        server.digest.beginEpoch(0, 3);
        server.digest.reserve().announced(0, 3, 10_000);
        final long before = server.segments.space().available();
        server.land(put(0, 1), 3);
        assertThat(server.segments.space().available()).isEqualTo(before);
        server.land(put(2, 1).value(new byte[500], 0, 500), 3);
        final long after = server.segments.space().available();
        assertThat(after).isLessThan(before);
        commit(Version.of(2, 1));
        server.land(put(2, 1).value(new byte[500], 0, 500), 3);
        assertThat(server.segments.space().available()).as("of a copy").isEqualTo(after);
    }

    /** It is copied to a replica that is catching up, and its client has the response before it lands. */
    @Test
    void shouldGiveBackTheSpaceOfARecordThatNobodyNeeds() {
        server.replica.beginJoining();
        server.land(draft(EntryType.PUT, 2, 2));
        final long before = server.segments.space().available();

        server.land(draft(EntryType.COMPLETION, 1, 1));

        assertThat(server.segments.space().available()).isEqualTo(before);
    }
}
