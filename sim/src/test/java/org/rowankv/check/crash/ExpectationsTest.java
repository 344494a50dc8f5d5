package org.rowankv.check.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.check.area.Stored;

/** Derives expectations from a dead child's journal, and detects violations. */
class ExpectationsTest {
    private static final int CACHE = CrashKeys.PLAIN;
    private static final int KEY = CrashKeys.number(CACHE, 1, 5);

    @TempDir
    Path directory;

    private final Expectations expectations = new Expectations();
    private Journal journal;
    private Journal.Writer writer;

    @BeforeEach
    void openJournal() throws IOException {
        journal = Journal.open(directory.resolve("journal"), CrashKeys.THREADS, 100);
        writer = journal.writer(1);
    }

    private static Stored value(int seed, long version) {
        return Stored.of(new byte[] {(byte) seed}, 1, version);
    }

    private void attempt(int seed) {
        writer.attempt(Journal.Kind.STORE, CACHE, KEY, value(seed, 0));
    }

    private void put(int seed, long version) {
        attempt(seed);
        writer.acked(version);
    }

    private List<Expectations.Finding> found(Map<Integer, Stored> found) {
        expectations.learn(journal);
        return expectations.compare("here", CACHE, found);
    }

    private void shouldBe(Expectations.Fault fault, List<Expectations.Finding> findings) {
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.fault()).isEqualTo(fault);
            assertThat(finding.key()).isEqualTo(KEY);
            assertThat(finding.toString()).contains("plain", "k" + KEY);
        });
    }

    @Test
    void shouldAcceptTheNewestAcknowledgedState() {
        put(1, 10);
        put(2, 11);
        assertThat(found(Map.of(KEY, value(2, 11)))).isEmpty();
        assertThat(expectations.acked()).isEqualTo(2);
    }

    @Test
    void shouldMissAnAcknowledgedState() {
        put(1, 10);
        shouldBe(Expectations.Fault.LOST, found(Map.of()));
    }

    @Test
    void shouldNotTakeAnOlderStateForTheNewest() {
        put(1, 10);
        put(2, 11);
        shouldBe(Expectations.Fault.LOST, found(Map.of(KEY, value(1, 10))));
    }

    @Test
    void shouldNotTakeTheSameBytesUnderAnotherVersionForTheSame() {
        put(1, 10);
        shouldBe(Expectations.Fault.LOST, found(Map.of(KEY, value(1, 12))));
    }

    @Test
    void shouldAcceptWhatWasAttemptedAndNeverAnswered() {
        put(1, 10);
        attempt(2);
        assertThat(found(Map.of(KEY, value(2, 11)))).isEmpty();
        assertThat(expectations.compare("here", CACHE, Map.of(KEY, value(1, 10))))
                .isEmpty();
        shouldBe(Expectations.Fault.LOST, expectations.compare("here", CACHE, Map.of()));
    }

    @Test
    void shouldFindARemovedObjectThatIsThere() {
        put(1, 10);
        writer.attempt(Journal.Kind.REMOVE, CACHE, KEY, Stored.absent(0));
        writer.acked(11);
        shouldBe(Expectations.Fault.RESURRECTED, found(Map.of(KEY, value(1, 10))));
    }

    @Test
    void shouldFindAnObjectThatNobodyWrote() {
        final int stranger = CrashKeys.number(CACHE, 3, 99_999);
        expectations.learn(journal);
        assertThat(expectations.compare("here", CACHE, Map.of(stranger, value(1, 1))))
                .singleElement()
                .satisfies(finding -> assertThat(finding.fault()).isEqualTo(Expectations.Fault.FORGED));
    }

    @Test
    void shouldForgetWhatChangedNothing() {
        put(1, 10);
        attempt(2);
        writer.nothingDone(Journal.State.NOTHING);
        attempt(3);
        writer.nothingDone(Journal.State.FULL);
        assertThat(found(Map.of(KEY, value(1, 10)))).isEmpty();
        assertThat(expectations.compare("here", CACHE, Map.of(KEY, value(2, 11))))
                .hasSize(1);
        assertThat(expectations.full()).isEqualTo(1);
    }

    @Test
    void shouldHoldAKeyToWhatItWasSeenToHold() throws IOException {
        put(1, 10);
        attempt(2);
        expectations.learn(journal);
        final ObservedStates observed = new ObservedStates(new int[CrashKeys.CACHES]);
        observed.of(CACHE).put(KEY, value(1, 10));
        final Path file = directory.resolve("observed");
        observed.write(file);
        expectations.settle(ObservedStates.read(file));
        shouldBe(Expectations.Fault.LOST, expectations.compare("here", CACHE, Map.of(KEY, value(2, 11))));
    }

    @Test
    void shouldLetAClearEndEverything() {
        final int cache = CrashKeys.SCRATCH + 1;
        final int key = CrashKeys.number(cache, 1, 0);
        writer.attempt(Journal.Kind.STORE, cache, key, value(1, 0));
        writer.acked(10);
        writer.attempt(Journal.Kind.CLEAR, cache, 0, Stored.absent(0));
        writer.acked(0);
        expectations.learn(journal);
        assertThat(expectations.compare("here", cache, Map.of())).isEmpty();
        assertThat(expectations.compare("here", cache, Map.of(key, value(1, 10))))
                .singleElement()
                .satisfies(finding -> assertThat(finding.fault()).isEqualTo(Expectations.Fault.RESURRECTED));
    }

    @Test
    void shouldJudgeASharedKeyByVersions() {
        final Journal.Writer other = journal.writer(2);
        writer.attempt(Journal.Kind.STORE, CrashKeys.SHARED, 3, value(1, 0));
        writer.acked(12);
        other.attempt(Journal.Kind.STORE, CrashKeys.SHARED, 3, value(2, 0));
        other.acked(11);
        expectations.learn(journal);
        assertThat(expectations.compare("here", CrashKeys.SHARED, Map.of(3, value(1, 12))))
                .isEmpty();
        assertThat(expectations.compare("here", CrashKeys.SHARED, Map.of(3, value(2, 11))))
                .hasSize(1);
    }

    @Test
    void shouldFindVersionsThatDoNotGrow() {
        put(1, 10);
        put(2, 10);
        expectations.learn(journal);
        assertThat(expectations.contradictions()).singleElement().asString().contains("k" + KEY);
    }
}
