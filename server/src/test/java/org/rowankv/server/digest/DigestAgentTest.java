package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
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
