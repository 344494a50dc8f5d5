package org.rowankv.check.soak;

import java.util.List;
import java.util.Map;

/**
 * Result of a soak run.
 *
 * @param violations of the store's guarantees; the first ones as text
 * @param shortcomings why the run, violations aside, is not meaningful
 * @param counts by name
 * @param quarters the store at the quarter points of the run
 * @param multiple how often the capacity was written
 * @param pace at its beginning and at its end
 */
record SoakReport(
        long violations,
        List<String> firstViolations,
        List<String> shortcomings,
        Map<String, Long> counts,
        List<SoakSample> quarters,
        double multiple,
        SoakPace pace) {
    boolean isWell() {
        return violations == 0 && shortcomings.isEmpty();
    }
}
