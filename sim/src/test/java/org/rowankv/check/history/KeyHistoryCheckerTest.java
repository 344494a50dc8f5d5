package org.rowankv.check.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class KeyHistoryCheckerTest {
    private static void shouldPass(History history) {
        assertThat(history.check()).isEmpty();
    }

    private static void shouldFail(History history, String reason) {
        assertThat(history.check()).isNotEmpty().anySatisfy(anomaly -> {
            assertThat(anomaly.key()).isEqualTo(History.KEY);
            assertThat(anomaly.reason()).contains(reason);
        });
    }

    private static final String NEVER_WRITTEN = "this value was never written to the key";
    private static final String NO_ORDER = "no order of its operations explains their answers";

    @Nested
    class WhatALinearizableStoreAnswers {
        @Test
        void shouldAcceptOneOperationAfterTheOther() {
            shouldPass(History.empty()
                    .miss(0, 1)
                    .put(2, 3, 1, 10, 0)
                    .get(4, 5, 1, 10)
                    .remove(6, 7, 11, 10)
                    .miss(8, 9)
                    .removeMissed(10, 11)
                    .putIfAbsent(12, 13, 2, 12)
                    .putIfAbsentFailed(14, 15, 3, 12)
                    .replace(16, 17, 4, 12, 13)
                    .replaceFailed(18, 19, 5, 12, 13)
                    .getAndPut(20, 21, 6, 14, 13, 4)
                    .removeIf(22, 23, 14, 15)
                    .miss(24, 25));
        }

        @Test
        void shouldStartFromWhatTheKeyHeld() {
            shouldPass(History.holding(9, 5).get(0, 1, 9, 5).put(2, 3, 10, 6, 5).get(4, 5, 10, 6));
        }

        @Test
        void shouldAcceptEitherOrderOfConcurrentWrites() {
            shouldPass(History.empty().put(0, 10, 1, 2, 1).put(0, 10, 2, 1, 0).get(11, 12, 1, 2));
        }

        @Test
        void shouldAcceptReadsOnBothSidesOfAWriteThatIsUnderWay() {
            shouldPass(History.holding(9, 1)
                    .put(0, 100, 1, 2, 1)
                    .get(10, 20, 9, 1)
                    .get(30, 40, 1, 2)
                    .get(50, 60, 1, 2));
        }

        @Test
        void shouldAcceptAnUnknownWriteThatTookEffectLate() {
            shouldPass(History.holding(9, 1).unknownPut(0, 1).get(10, 20, 9, 1).get(30, 40, 1, 2));
        }

        @Test
        void shouldAcceptAnUnknownWriteThatNeverTookEffect() {
            shouldPass(History.holding(9, 1).unknownPut(0, 1).get(10, 20, 9, 1).put(30, 40, 2, 2, 1));
        }

        @Test
        void shouldAcceptAnUnknownWriteThatOnlyItsReplacerSaw() {
            shouldPass(
                    History.holding(9, 1).unknownPut(0, 1).put(10, 20, 2, 3, 2).get(30, 40, 2, 3));
        }

        @Test
        void shouldAcceptAnUnknownRemovalInTheMiddle() {
            shouldPass(History.holding(9, 1)
                    .unknown(KeyAction.REMOVE, 0, Event.ABSENT, 0)
                    .get(10, 20, 9, 1)
                    .miss(30, 40)
                    .putIfAbsent(50, 60, 2, 3));
        }

        @Test
        void shouldAcceptAnUnknownConditionalWriteWhoseConditionHeld() {
            shouldPass(History.holding(9, 1)
                    .unknown(KeyAction.REPLACE_IF_VERSION, 0, 1, 1)
                    .get(10, 20, 1, 2));
        }

        @Test
        void shouldForgetWhatWasRefused() {
            shouldPass(History.holding(9, 1)
                    .add(KeyAction.PUT, 1, 0, Outcome.REFUSED, 0, 0, Event.NOT_ASKED, 0, 1)
                    .get(10, 20, 9, 1));
        }

        @Test
        void shouldTreatEqualTimesAsConcurrent() {
            shouldPass(History.holding(9, 1).put(0, 10, 1, 2, 1).get(10, 20, 9, 1));
        }
    }

    @Nested
    class WhatItCannotAnswer {
        @Test
        void shouldFindAStaleRead() {
            shouldFail(History.holding(9, 1).put(0, 10, 1, 2, 1).get(11, 20, 9, 1), NO_ORDER);
        }

        @Test
        void shouldFindReadsThatGoBackAndForth() {
            shouldFail(
                    History.holding(9, 1).put(0, 100, 1, 2, 1).get(10, 20, 1, 2).get(30, 40, 9, 1), NO_ORDER);
        }

        @Test
        void shouldFindALostUpdate() {
            // Two conditional writes on one version, both acknowledged.
            shouldFail(History.holding(9, 1).replace(0, 10, 1, 1, 2).replace(5, 15, 2, 1, 3), NO_ORDER);
        }

        @Test
        void shouldFindAWriteThatIsGone() {
            shouldFail(History.empty().put(0, 10, 1, 1, 0).miss(11, 20), NO_ORDER);
        }

        @Test
        void shouldFindASecondApplicationByItsVersion() {
            shouldFail(
                    History.empty()
                            .put(0, 100, 1, 5, 0)
                            .get(10, 20, 1, 5)
                            .put(30, 40, 2, 6, 5)
                            .get(50, 60, 1, 7),
                    "applied twice");
        }

        @Test
        void shouldFindASecondApplicationOfAnUnknownWrite() {
            // Read, overwritten, and read again: a, b, a.
            shouldFail(
                    History.holding(9, 1)
                            .unknownPut(0, 1)
                            .get(10, 20, 1, 2)
                            .put(30, 40, 2, 3, 2)
                            .get(50, 60, 2, 3)
                            .get(70, 80, 1, 2),
                    NO_ORDER);
        }

        @Test
        void shouldFindASecondApplicationOfAnUnknownRemoval() {
            shouldFail(
                    History.holding(9, 1)
                            .unknown(KeyAction.REMOVE, 0, Event.ABSENT, 0)
                            .miss(10, 20)
                            .putIfAbsent(30, 40, 2, 3)
                            .miss(50, 60),
                    NO_ORDER);
        }

        @Test
        void shouldFindADeletedObjectThatCameBack() {
            shouldFail(History.holding(9, 1).remove(0, 10, 2, 1).miss(11, 12).get(13, 20, 9, 1), NO_ORDER);
        }

        @Test
        void shouldFindAWriteThatItsCallerWasToldHadFailed() {
            shouldFail(
                    History.holding(9, 1)
                            .putIfAbsentFailed(0, 10, 1, 1)
                            .remove(11, 20, 2, 1)
                            .get(21, 30, 1, 3),
                    "although its reply said that it had not");
        }

        @Test
        void shouldFindAVersionThatNoWriteCanHaveMade() {
            shouldFail(History.holding(9, 1).put(0, 10, 1, 5, 4), "can have made the observed version");
            shouldFail(History.holding(9, 1).putIfAbsentFailed(0, 10, 1, 4), "can have made the observed version");
        }

        /** A plain write may report this for a damaged object; it explains no other reply. */
        @Test
        void shouldFindAnUnknownPreviousVersionOfAWriteThatDependsOnIt() {
            final String reason = "can have made the observed version";
            final long unknown = Event.UNKNOWN_VERSION;
            shouldPass(History.holding(9, 1).put(0, 10, 1, 5, unknown).get(11, 12, 1, 5));
            shouldPass(History.holding(9, 1).remove(0, 10, 5, unknown).miss(11, 12));
            shouldFail(History.holding(9, 1).replaceAny(0, 10, 1, 5, unknown), reason);
            shouldFail(History.holding(9, 1).getAndPut(0, 10, 1, 5, unknown, 9), "applied twice");
            shouldFail(History.holding(9, 1).put(0, 10, 1, 5, unknown).miss(11, 12), NO_ORDER);
            shouldFail(History.holding(9, 1).put(0, 10, 1, 5, unknown).put(11, 12, 2, 6, 1), NO_ORDER);
            shouldFail(History.holding(9, 1).put(0, 10, 1, 5, unknown).put(11, 12, 2, 6, 4), reason);
        }

        @Test
        void shouldFindAValueFromNowhere() {
            shouldFail(History.empty().get(0, 10, 77, 3), NEVER_WRITTEN);
        }

        @Test
        void shouldFindBytesThatAreNobodysValue() {
            shouldFail(History.holding(9, 1).get(0, 10, Event.TORN, 1), NEVER_WRITTEN);
        }

        @Test
        void shouldFindAReplyWithAnotherPreviousValue() {
            shouldFail(History.holding(9, 1).put(0, 1, 8, 2, 1).getAndPut(2, 3, 1, 3, 2, 9), "version 0.2 is given to");
            shouldFail(History.holding(9, 1).put(0, 1, 8, 2, 1).getAndPut(2, 3, 1, 3, 2, Event.ABSENT), NO_ORDER);
        }

        @Test
        void shouldFindAConditionThatWasIgnored() {
            shouldFail(
                    History.holding(9, 1)
                            .add(KeyAction.PUT_IF_ABSENT, 1, 0, Outcome.DONE, 2, 1, Event.NOT_ASKED, 0, 10),
                    NO_ORDER);
            shouldFail(History.holding(9, 1).putIfAbsent(0, 10, 1, 2), NO_ORDER);
        }

        @Test
        void shouldFindAConditionThatFailedForNoReason() {
            shouldFail(History.holding(9, 1).replaceFailed(0, 10, 1, 1, 1), NO_ORDER);
            shouldFail(History.empty().putIfAbsentFailed(0, 10, 1, 0), NO_ORDER);
        }

        @Test
        void shouldFindAFailedConditionThatNamesAVersionOfThePast() {
            shouldFail(History.holding(9, 1).put(0, 1, 2, 2, 1).putIfAbsentFailed(2, 3, 3, 1), NO_ORDER);
        }

        @Test
        void shouldFindARemovalOfNothing() {
            shouldFail(History.empty().remove(0, 10, 1, 0), NO_ORDER);
            shouldFail(History.holding(9, 1).removeMissed(0, 10), NO_ORDER);
        }

        @Test
        void shouldFindAnUnknownConditionalWriteAgainstItsCondition() {
            shouldFail(
                    History.holding(9, 1)
                            .put(0, 1, 2, 2, 1)
                            .unknown(KeyAction.REPLACE_IF_VERSION, 2, 3, 1)
                            .get(10, 20, 3, 4),
                    NO_ORDER);
        }

        @Test
        void shouldFindAVersionOfTwoWrites() {
            shouldFail(History.empty().put(0, 10, 1, 5, 0).put(0, 10, 2, 5, 0), "version 0.5 is given to");
        }

        @Test
        void shouldFindVersionsThatShrink() {
            shouldFail(
                    History.empty().put(0, 1, 1, 5, 0).put(2, 3, 2, 4, 5), "had been answered before it was invoked");
        }

        @Test
        void shouldFindAnObjectWithoutAVersion() {
            shouldFail(History.empty().put(0, 1, 1, 0, 0), "the version of nothing");
        }
    }

    @Nested
    class UnchangedSince {
        private static final String SOMETHING_HAD = "as if nothing had changed since a version, but something had";

        @Test
        void shouldAcceptAWriteBehindAMissWithNothingInBetween() {
            shouldPass(History.empty()
                    .missAt(0, 1, 7)
                    .putIfUnchanged(2, 3, 1, 7, 8)
                    .get(4, 5, 1, 8));
        }

        @Test
        void shouldAcceptARefusalWhereNothingIs() {
            shouldPass(History.empty()
                    .missAt(0, 1, 7)
                    .putIfUnchangedFailed(2, 3, 1, 7, 0)
                    .miss(4, 5));
        }

        @Test
        void shouldAcceptARefusalByWhatIsThere() {
            shouldPass(History.holding(9, 5).putIfUnchangedFailed(2, 3, 1, 7, 5).get(4, 5, 9, 5));
        }

        @Test
        void shouldFindAChangeThatCameBetween() {
            shouldFail(
                    History.empty()
                            .missAt(0, 1, 7)
                            .put(2, 3, 2, 8, 0)
                            .remove(4, 5, 9, 8)
                            .putIfUnchanged(6, 7, 1, 7, 10),
                    SOMETHING_HAD);
        }

        @Test
        void shouldFindAClearThatCameBetween() {
            shouldFail(
                    History.empty()
                            .missAt(0, 1, 7)
                            .add(KeyAction.CLEAR, Event.ABSENT, 0, Outcome.DONE, 8, 0, Event.NOT_ASKED, 2, 3)
                            .putIfUnchanged(4, 5, 1, 7, 9),
                    SOMETHING_HAD);
        }

        @Test
        void shouldFindAWriteOverWhatIsThere() {
            shouldFail(History.holding(9, 5).putIfUnchanged(0, 1, 1, 7, 8), NO_ORDER);
        }

        @Test
        void shouldFindARefusalThatNamesWhatIsGone() {
            shouldFail(History.holding(9, 5).remove(0, 1, 6, 5).putIfUnchangedFailed(2, 3, 1, 3, 5), NO_ORDER);
        }

        @Test
        void shouldFindAMissWhoseVersionIsGivenOutLater() {
            shouldFail(History.empty().missAt(0, 1, 7).put(2, 3, 1, 7, 0), "had been answered before it was invoked");
        }
    }

    @Nested
    class Replacing {
        @Test
        void shouldAcceptAReplacementOfWhatIsThere() {
            shouldPass(History.holding(9, 5).replaceAny(0, 1, 1, 6, 5).get(2, 3, 1, 6));
        }

        @Test
        void shouldAcceptAnUnknownReplacementThatTookEffect() {
            shouldPass(History.holding(9, 5)
                    .unknown(KeyAction.REPLACE, 0, 1, 0)
                    .get(1, 2, 9, 5)
                    .get(3, 4, 1, 6));
        }

        @Test
        void shouldFindAReplacementOfNothing() {
            shouldFail(History.empty().replaceAny(0, 1, 1, 6, 0), NO_ORDER);
        }

        @Test
        void shouldFindAnUnknownReplacementOfNothing() {
            shouldFail(History.empty().unknown(KeyAction.REPLACE, 0, 1, 0).get(2, 3, 1, 6), NO_ORDER);
        }
    }

    @Test
    void shouldTakeADestructionForAPossibleEnd() {
        shouldPass(History.holding(9, 5)
                .unknown(KeyAction.DESTROY, 0, Event.ABSENT, 0)
                .get(1, 2, 9, 5)
                .miss(3, 4));
        shouldFail(
                History.holding(9, 5)
                        .unknown(KeyAction.DESTROY, 0, Event.ABSENT, 0)
                        .miss(1, 2)
                        .get(3, 4, 9, 5),
                NO_ORDER);
    }

    @Test
    void shouldShowTheShortestWindowAndNothingElse() {
        final History history = History.empty();
        long previous = 0;
        for (int i = 1; i <= 200; i++) {
            history.put(10 * i, 10 * i + 2, i, i, previous).get(10 * i + 4, 10 * i + 6, i, i);
            previous = i;
        }
        history.put(3000, 3001, 300, 300, 200).put(3002, 3003, 301, 301, 300).get(3004, 3005, 300, 300);
        for (int i = 400; i <= 500; i++) {
            history.get(10 * i, 10 * i + 2, 301, 301);
        }
        assertThat(history.check()).singleElement().satisfies(anomaly -> {
            assertThat(anomaly.window().lines().skip(1))
                    .hasSizeLessThanOrEqualTo(3)
                    .last()
                    .asString()
                    .startsWith("  >")
                    .contains("get", "#300");
            assertThat(anomaly.window()).contains("put #301").doesNotContain("#200 ");
        });
    }

    @Test
    void shouldSayUndecidedRatherThanUseAllMemory() {
        final History history = History.empty();
        for (int i = 1; i <= 12; i++) {
            history.unknown(KeyAction.REMOVE, 0, Event.ABSENT, 0).unknownPut(0, i);
        }
        for (int i = 1; i <= 12; i++) {
            // each value is read once, in an order that only a search can find, followed by an impossible read
            history.get(10, 1000, i, i);
        }
        history.get(2000, 2001, 3, 3).get(2002, 2003, 2, 2).get(2004, 2005, 3, 3);
        assertThat(new KeyHistoryChecker(1000).check(History.KEY, Event.ABSENT, 0, history.events()))
                .singleElement()
                .satisfies(anomaly -> assertThat(anomaly.reason()).startsWith("undecided"));
    }

    /** In a cache with a limit any value may be evicted, so a write without a reply may explain a missing object. */
    private static History withUnansweredWrites(int count) {
        final History history = History.empty();
        for (int i = 1; i <= count; i++) {
            history.unknownPut(i, 100 + i).unknown(KeyAction.EXPIRY, i, 100 + i, 0);
            if (i % 3 == 0) {
                history.unknown(KeyAction.REMOVE, i, Event.ABSENT, 0);
            }
        }
        return history;
    }

    @Test
    void shouldDecideAmongManyOperationsWithoutAnswers() {
        final History history = withUnansweredWrites(24);
        for (int i = 1; i <= 12; i++) {
            final int at = 100 * i;
            history.put(at, at + 90, i, 1000 + i, 0).get(at + 10, at + 20, i, 1000 + i);
            history.miss(at + 91, at + 92);
        }
        assertThat(new KeyHistoryChecker(10_000).check(History.KEY, Event.ABSENT, 0, history.events()))
                .isEmpty();
    }

    @Test
    void shouldFindWhatOperationsWithoutAnswersCannotExplain() {
        final History history = withUnansweredWrites(8);
        for (int i = 1; i <= 4; i++) {
            final int at = 100 * i;
            history.put(at, at + 10, i, 1000 + i, 0).get(at + 20, at + 30, i, 1000 + i);
            history.miss(at + 40, at + 50);
        }
        history.get(1000, 1001, 4, 1004);
        assertThat(new KeyHistoryChecker(10_000).check(History.KEY, Event.ABSENT, 0, history.events()))
                .singleElement()
                .satisfies(anomaly -> assertThat(anomaly.reason()).startsWith("no order"));
    }
}
