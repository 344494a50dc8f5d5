package org.rowankv.check.soak;

import java.util.List;
import java.util.Map;

/**
 * What came of a run.
 *
 * @param violations of what the store promises; the first ones in words
 * @param shortcomings why the run, violations aside, has not shown what it is there to show
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
