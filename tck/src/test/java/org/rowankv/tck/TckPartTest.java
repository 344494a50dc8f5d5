package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import org.jsr107.tck.CacheTest;
import org.jsr107.tck.annotation.InterceptionCacheNameOnEachMethodTest;
import org.jsr107.tck.annotation.InterceptionUsingCacheConfigTest;
import org.jsr107.tck.annotation.InterceptionUsingDefaultCacheNameTest;
import org.junit.jupiter.api.Test;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;

class TckPartTest {
    private static TckTally tally(int run, int skipped) {
        final TckTally tally = new TckTally();
        for (int i = 0; i < run; i++) {
            final Description description = Description.createTestDescription("ATest", "test" + i);
            tally.testStarted(description);
            if (i < skipped) {
                tally.onExclusion();
            }
            tally.testFinished(description);
        }
        return tally;
    }

    @Test
    void shouldFindTheAnnotationTestsInTheirPartOnly() throws Exception {
        assertThat(TckPart.ANNOTATIONS.testClasses(""))
                .containsExactly(
                        InterceptionCacheNameOnEachMethodTest.class,
                        InterceptionUsingCacheConfigTest.class,
                        InterceptionUsingDefaultCacheNameTest.class);
        assertThat(TckPart.CACHING.testClasses(""))
                .contains(CacheTest.class)
                .noneMatch(type -> type.getName().contains("annotation"));
    }

    @Test
    void shouldSelectByAPartOfTheName() throws Exception {
        assertThat(TckPart.CACHING.testClasses("tck.CacheTest")).containsExactly(CacheTest.class);
        assertThat(TckPart.CACHING.testClasses("Interception")).isEmpty();
    }

    @Test
    void shouldBeMetByItsOwnNumbers() {
        assertThat(TckPart.CACHING.isMetBy(tally(479, 13))).isTrue();
        assertThat(tally(479, 13).counts()).isEqualTo(TckPart.CACHING.expected());
        assertThat(TckPart.ANNOTATIONS.isMetBy(tally(12, 0))).isTrue();
        assertThat(tally(12, 0).counts()).isEqualTo(TckPart.ANNOTATIONS.expected());
    }

    @Test
    void shouldNotBeMetByAnyOtherNumber() {
        assertThat(TckPart.CACHING.isMetBy(tally(478, 13))).isFalse();
        assertThat(TckPart.CACHING.isMetBy(tally(480, 13))).isFalse();
        assertThat(TckPart.CACHING.isMetBy(tally(479, 14))).isFalse();
        assertThat(TckPart.CACHING.isMetBy(tally(479, 12))).isFalse();
        assertThat(TckPart.ANNOTATIONS.isMetBy(tally(12, 12))).isFalse();
        assertThat(TckPart.ANNOTATIONS.isMetBy(tally(0, 0))).isFalse();
    }

    @Test
    void shouldNotBeMetWhenATestFails() {
        final TckTally tally = tally(12, 0);
        tally.testFailure(new Failure(Description.createTestDescription("ATest", "test1"), new AssertionError()));
        assertThat(TckPart.ANNOTATIONS.isMetBy(tally)).isFalse();
    }
}
