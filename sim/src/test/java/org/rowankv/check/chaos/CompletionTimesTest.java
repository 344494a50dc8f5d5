package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CompletionTimesTest {
    private static CompletionTimes at(long... timesNs) {
        final CompletionTimes completions = new CompletionTimes();
        for (long each : timesNs) {
            completions.add(each);
        }
        return completions;
    }

    @Test
    void shouldFindTheLongestGap() {
        assertThat(at(5, 12, 40, 45).longestGapNs(10, 50)).isEqualTo(28);
    }

    @Test
    void shouldCountAGapFromTheLastCompletionBefore() {
        assertThat(at(5, 8, 30, 31).longestGapNs(20, 32)).isEqualTo(22);
    }

    @Test
    void shouldCountAGapThatHasNotEnded() {
        assertThat(at(5, 21).longestGapNs(20, 100)).isEqualTo(79);
        assertThat(at().longestGapNs(20, 100)).isEqualTo(80);
    }

    @Test
    void shouldEndAGapAtTheEndOfTheInterval() {
        assertThat(at(5, 21, 500).longestGapNs(20, 100)).isEqualTo(79);
    }

    @Test
    void shouldForgetAllButTheNewest() {
        final CompletionTimes completions = at(5, 60);
        completions.forget();
        completions.add(70);
        assertThat(completions.longestGapNs(61, 75)).isEqualTo(10);
    }
}
