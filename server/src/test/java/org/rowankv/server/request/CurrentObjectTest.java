package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
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

/** What a mutation finds of a key's present object. */
final class CurrentObjectTest {
    private static final int OWNER = 1;
    private static final int CACHE = 3;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final PartList LIST = new PartList(77, 1 << 20, 1 << 16, 5);

    private final KeyHash hash = new KeyHash(11);
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final ShardReplica shard = new ShardReplica(0, 1, hash, segments, 1);
    private final long position = shard.positionOf(hash.hash(CACHE, KEY, 0, KEY.length));
    private final CurrentObject current = new CurrentObject(segments);

    private long putList() {
        shard.recovered(OWNER);
        final byte[] list = LIST.toBytes();
        final EntryDraft draft = new EntryDraft()
                .begin(EntryType.PUT, 0, CACHE)
                .key(KEY, 0, KEY.length)
                .value(list, 0, list.length)
                .resultBits(ResultBits.IN_PARTS)
                .version(Version.of(1, 1));
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        final AppendLog log = new AppendLog(segments, SegmentOwner.WORKER);
        assertThat(log.ensureRoom(length)).isTrue();
        final long address = log.append(draft, 1);
        assertThat(shard.apply(OWNER, position, address, EntryType.PUT, length)).isZero();
        return address;
    }

    private void load() {
        current.load(shard, position, new Request().get(CACHE, KEY, 0, KEY.length), false, false);
    }

    @Test
    void shouldFindAListOfParts() {
        putList();
        load();
        assertThat(current.isKnown()).isTrue();
        assertThat(current.parts).isEqualTo(LIST);
    }

    /** By it parts are removed: as many as it says, with the id that it says. */
    @ParameterizedTest
    @ValueSource(ints = {1, 9, 15})
    void shouldNotBelieveADamagedListThoughNothingElseIsVerified(int offset) {
        final long address = putList();
        final int at = segments.region().offset(address);
        final int chosen =
                at + EntryDescriptor.usedLength(segments.region().buffer(address), at) - PartList.LENGTH + offset;
        segments.region().buffer(address).put(chosen, (byte)
                (segments.region().buffer(address).get(chosen) ^ 2));
        load();
        assertThat(current.parts).isNotNull();
        assertThat(current.damaged).isTrue();
    }
}
