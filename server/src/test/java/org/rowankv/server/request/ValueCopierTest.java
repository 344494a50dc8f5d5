package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/** The value that a touch logs again. */
@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ValueCopierTest {
    private static final int OWNER = 1;
    private static final int CACHE = 3;
    private static final int VALUE_LENGTH_AT = 44;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = "value".getBytes(StandardCharsets.US_ASCII);

    private final KeyHash hash = new KeyHash(11);
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica shard = new ShardReplica(0, 1, hash, segments, 1);
    private final Request request = new Request().get(CACHE, KEY, 0, KEY.length);
    private final long position = shard.positionOf(hash.hash(CACHE, KEY, 0, KEY.length));
    private long address;

    @BeforeEach
    void put() {
        shard.recovered(OWNER);
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        final EntryDraft draft = new EntryDraft()
                .begin(EntryType.PUT, 0, CACHE)
                .key(KEY, 0, KEY.length)
                .value(VALUE, 0, VALUE.length)
                .version(Version.of(1, 1));
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        address = log.append(draft, 1);
        assertThat(shard.apply(OWNER, position, address, EntryType.PUT, length)).isZero();
    }

    @Test
    void shouldCopyTheValue() {
        final byte[] scratch = new byte[100];
        assertThat(ValueCopier.read(segments, shard, position, request, scratch))
                .isSameAs(scratch);
        assertThat(Arrays.copyOf(scratch, VALUE.length)).isEqualTo(VALUE);
        assertThat(ValueCopier.read(segments, shard, position, request, new byte[1]))
                .isEqualTo(VALUE);
    }

    /** It must not wait for what never comes, under the key's lock. */
    @Test
    void shouldEndAtADamagedEntry() {
        segments.region().buffer(address).put(segments.region().offset(address) + VALUE_LENGTH_AT + 3, (byte) 0x40);

        assertThat(ValueCopier.read(segments, shard, position, request, new byte[1]))
                .isNull();
        final int segment = segments.segmentOf(address);
        assertThat(segments.damage().isSuspect(segment, segments.generation(segment)))
                .isTrue();
    }
}
