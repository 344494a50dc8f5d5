package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.Version;
import org.rowankv.server.log.EntryDescriptor;

/** Requests for an object whose entry is damaged, before a scrubber has found it. */
@Timeout(120)
final class DamagedUpdateTest {
    private static final int LENGTH = 500;
    private static final String KEY = "damaged";
    private static final int TYPE_AT = 6;
    private static final int VERSION_AT = 25;
    private static final int VALUE_AT = 200;
    /** Offset of the expiry in an entry that replaces another: after the request id and the previous version. */
    private static final int EXPIRY_AT = 72;

    private static final long LIFETIME_MS = 100_000;

    private DamagedStore store;
    private RowanClient client;
    private int cache;
    private long version;

    private void open(boolean verifyReads) {
        store = new DamagedStore(with -> with.verifyReads = verifyReads);
        client = store.client;
        cache = Stores.cache(client);
        final Request put = request();
        final byte[] stored = value(KEY, 1, LENGTH);
        client.execute(put.put(cache, bytes(KEY), 0, bytes(KEY).length, stored, 0, stored.length));
        version = put.version();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static Request request() {
        return new Request();
    }

    /** Replaces the object by one with a lifetime. */
    private void replaceByAMortal() {
        final Request put = put().ttl(LIFETIME_MS, LIFETIME_MS);
        assertThat(execute(put)).isEqualTo(Status.OK);
        version = put.version();
        assertThat(expiryMs()).isLessThan(Long.MAX_VALUE);
    }

    private void flip(int offset) {
        flip(offset, 4);
    }

    private void flip(int offset, int mask) {
        store.flip(address(), offset, mask);
    }

    private long expiryMs() {
        final ByteBuffer buffer = store.buffer(address());
        final int at = store.offset(address());
        return EntryDescriptor.expiryMs(buffer, at, EntryDescriptor.flags(buffer, at));
    }

    /** Address of the newest entry with the version. */
    private long address() {
        return store.find((buffer, at) -> EntryDescriptor.version(buffer, at) == version);
    }

    private Status execute(Request request) {
        client.execute(request);
        return request.status();
    }

    private Request put() {
        final byte[] next = value(KEY, 2, LENGTH);
        return request().put(cache, bytes(KEY), 0, bytes(KEY).length, next, 0, next.length);
    }

    private Request delete() {
        return request().delete(cache, bytes(KEY), 0, bytes(KEY).length);
    }

    @ParameterizedTest
    @ValueSource(ints = {VERSION_AT, VALUE_AT})
    void shouldDecideNothingByAnObjectThatIsDamaged(int offset) {
        open(true);
        flip(offset);
        assertThat(execute(put().requestValue(true))).isEqualTo(Status.CORRUPTED);
        assertThat(execute(delete().requestValue(true))).isEqualTo(Status.CORRUPTED);
        assertThat(execute(put().when(Condition.IF_VERSION, version))).isEqualTo(Status.CORRUPTED);
        assertThat(execute(put().when(Condition.IF_ABSENT))).isEqualTo(Status.CORRUPTED);
        assertThat(execute(delete().when(Condition.IF_VERSION, version))).isEqualTo(Status.CORRUPTED);
    }

    /** A mutation that meets it first makes it suspect, and reports nothing. */
    @Test
    void shouldReportOnceWhatReadsMeet() {
        open(true);
        flip(VALUE_AT);
        assertThat(execute(put().requestValue(true))).isEqualTo(Status.CORRUPTED);
        for (int i = 0; i < 2; i++) {
            assertThat(execute(request().get(cache, bytes(KEY), 0, bytes(KEY).length)))
                    .isEqualTo(Status.CORRUPTED);
        }
        assertThat(store.cluster.errors().distinct())
                .singleElement()
                .satisfies(error -> assertThat(error.where()).startsWith("reading segment"))
                .satisfies(error -> assertThat(error.count()).isOne());
    }

    @Test
    void shouldLetAPlainPutReplaceIt() {
        open(true);
        flip(VALUE_AT);
        assertThat(execute(put())).isEqualTo(Status.OK);
        assertThat(numberOf(KEY, client.get(cache, bytes(KEY)))).isEqualTo(2);
    }

    /** By its version the entry is none of those that the destruction has ended. */
    @Test
    void shouldNotFindADamagedObjectInADestroyedCache() {
        open(true);
        flip(VERSION_AT);
        client.execute(request().destroy(cache, 0));
        assertThat(execute(request().get(cache, bytes(KEY), 0, bytes(KEY).length)))
                .isEqualTo(Status.UNKNOWN_CACHE);
    }

    /** The sign of its version flips: by that it is older than any clear. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotCallAnObjectAbsentThatLooksCleared(boolean verifyReads) {
        open(verifyReads);
        flip(VERSION_AT + 6, 0x80);
        assertThat(execute(request().get(cache, bytes(KEY), 0, bytes(KEY).length)))
                .isEqualTo(Status.CORRUPTED);
        assertThat(execute(put().when(Condition.IF_ABSENT))).isEqualTo(Status.CORRUPTED);
        assertThat(execute(delete().requestValue(true))).isEqualTo(Status.CORRUPTED);
        final Request put = put();
        assertThat(execute(put)).isEqualTo(Status.OK);
        assertThat(put.has(ResultBits.EXISTED)).isTrue();
    }

    /** Another replica may have the object: reporting it absent would leave it there. */
    @Test
    void shouldNotCallAnObjectAbsentWhoseEntryDoesNotSayWhatItIs() {
        open(true);
        flip(TYPE_AT);
        assertThat(execute(delete())).isEqualTo(Status.CORRUPTED);
        assertThat(execute(put())).isEqualTo(Status.OK);
        assertThat(execute(delete())).isEqualTo(Status.OK);
        assertThat(client.get(cache, bytes(KEY))).isNull();
    }

    @Test
    void shouldLetAPlainRemoveEndIt() {
        open(true);
        flip(VALUE_AT);
        final Request delete = delete();
        assertThat(execute(delete)).isEqualTo(Status.OK);
        assertThat(delete.has(ResultBits.REMOVED)).isTrue();
        assertThat(delete.previousVersion()).isEqualTo(Version.NONE);
        assertThat(client.get(cache, bytes(KEY))).isNull();
    }

    /** The object is logged again then: its damage would receive a valid checksum, on every replica. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveNoOtherLifetimeToAnObjectThatIsDamaged(boolean verifyReads) {
        open(verifyReads);
        flip(VALUE_AT);
        assertThat(execute(request().touch(cache, bytes(KEY), 0, bytes(KEY).length, version, 100_000)))
                .isEqualTo(Status.CORRUPTED);
    }

    /** A bit of its expiry flips: it has not expired, and its end would be logged on every replica. */
    @Test
    void shouldEndNoObjectByALifetimeThatIsDamaged() {
        open(false);
        replaceByAMortal();
        flip(EXPIRY_AT + 5, 1); // decades ago
        final Request read = request().get(cache, bytes(KEY), 0, bytes(KEY).length);
        assertThat(execute(read)).isEqualTo(Status.CORRUPTED);
        flip(EXPIRY_AT + 5, 1);
        assertThat(numberOf(KEY, client.get(cache, bytes(KEY)))).isEqualTo(2);
    }

    /** A put that keeps the lifetime would give a wrong one to the new object, with a valid checksum. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHandOnNoLifetimeThatIsDamaged(boolean verifyReads) {
        open(verifyReads);
        replaceByAMortal();
        flip(EXPIRY_AT + 5, 2); // decades later
        final Request put = put().ttl(Ttl.ETERNAL, Ttl.UNCHANGED);
        assertThat(execute(put)).isEqualTo(Status.OK);
        version = put.version();
        assertThat(expiryMs()).isEqualTo(Long.MAX_VALUE);
    }

    /** Its version is unknown. The answer only says that there may have been an object. */
    @ParameterizedTest
    @ValueSource(ints = {TYPE_AT, VERSION_AT, VALUE_AT})
    void shouldNameNoPreviousVersionOfWhatIsDamaged(int offset) {
        open(true);
        flip(offset);
        final Request put = put();
        assertThat(execute(put)).isEqualTo(Status.OK);
        assertThat(put.previousVersion()).isEqualTo(Version.NONE);
        assertThat(put.has(ResultBits.EXISTED) && put.has(ResultBits.UPDATED)).isTrue();
        assertThat(put.has(ResultBits.CREATED)).isFalse();
    }

    /** A put of an expired value ends the object; other replicas may hold it. */
    @ParameterizedTest
    @ValueSource(ints = {TYPE_AT, VALUE_AT})
    void shouldEndWhatIsDamagedByAValueThatIsOverAtOnce(int offset) {
        open(true);
        flip(offset);
        final Request put = put().ttl(Ttl.IMMEDIATE, Ttl.ETERNAL);
        assertThat(execute(put)).isEqualTo(Status.OK);
        assertThat(put.version()).isGreaterThan(version);
        assertThat(put.previousVersion()).isEqualTo(Version.NONE);
        assertThat(client.get(cache, bytes(KEY))).isNull();
    }

    /** A version that is too large by one flipped bit made the next write look late: it was acknowledged, and dropped. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReplaceAnObjectWhoseVersionLooksNewer(boolean verifyReads) {
        open(verifyReads);
        flip(VERSION_AT);
        assertThat(execute(put())).isEqualTo(Status.OK);
        assertThat(numberOf(KEY, client.get(cache, bytes(KEY)))).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRemoveAnObjectWhoseVersionLooksNewer(boolean verifyReads) {
        open(verifyReads);
        flip(VERSION_AT);
        assertThat(execute(delete())).isEqualTo(Status.OK);
        assertThat(client.get(cache, bytes(KEY))).isNull();
        assertThat(client.catalogue().objects(cache)).isZero();
    }
}
