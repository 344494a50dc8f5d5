package org.rowankv.server.cleaning;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

final class CompletionRecordTest {
    private static final int AT = 256;

    private final ByteBuffer entry = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer record = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);

    @Test
    void shouldKeepAllThatAnAnswerIsMadeOf() {
        final byte[] bytes = {1, 2, 3, 4, 5};
        new EntryDraft()
                .begin(EntryType.PUT, 7, 11)
                .version(13)
                .key(bytes, 0, 2)
                .value(bytes, 0, 5)
                .oldValue(bytes, 3)
                .request(17, 19, 3)
                .previousVersion(23)
                .expiryMs(29)
                .resultBits(31)
                .writeBody(entry, AT);
        new CompletionRecord().of(entry, AT).writeBody(record, 0);
        final int flags = EntryDescriptor.flags(record, 0);
        assertThat(EntryDescriptor.shard(record, 0)).isEqualTo(7);
        assertThat(EntryDescriptor.cacheId(record, 0)).isEqualTo(11);
        assertThat(EntryDescriptor.version(record, 0)).isEqualTo(13);
        assertThat(EntryDescriptor.sessionId(record, 0, flags)).isEqualTo(17);
        assertThat(EntryDescriptor.sequence(record, 0, flags)).isEqualTo(19);
        assertThat(EntryDescriptor.unanswered(record, 0, flags)).isEqualTo(3);
        assertThat(EntryDescriptor.previousVersion(record, 0, flags)).isEqualTo(23);
        assertThat(EntryDescriptor.resultBits(flags)).isEqualTo(31);
        assertThat(EntryDescriptor.keyLength(record, 0)).isZero();
        assertThat(EntryDescriptor.valueLength(record, 0)).isZero();
        assertThat(EntryDescriptor.oldValueLength(record, 0, flags)).isEqualTo(3);
        final byte[] old = new byte[3];
        record.get(EntryDescriptor.headerLength(flags), old);
        assertThat(old).containsExactly(1, 2, 3);
    }

    /** Of an earlier entry with an old value. */
    @Test
    void shouldHaveNothingOfTheEntryBefore() {
        final byte[] bytes = {1, 2, 3};
        final CompletionRecord records = new CompletionRecord();
        new EntryDraft()
                .begin(EntryType.PUT, 7, 11)
                .version(13)
                .key(bytes, 0, 2)
                .oldValue(bytes, 3)
                .request(17, 19, 3)
                .previousVersion(23)
                .resultBits(31)
                .writeBody(entry, AT);
        records.of(entry, AT);
        new EntryDraft()
                .begin(EntryType.DELETE, 1, 2)
                .version(3)
                .key(bytes, 0, 2)
                .request(4, 5, 0)
                .writeBody(entry, AT);
        records.of(entry, AT).writeBody(record, 0);
        final int flags = EntryDescriptor.flags(record, 0);
        assertThat(EntryDescriptor.previousVersion(record, 0, flags)).isZero();
        assertThat(EntryDescriptor.resultBits(flags)).isZero();
        assertThat(EntryDescriptor.oldValueLength(record, 0, flags)).isEqualTo(-1);
    }
}
