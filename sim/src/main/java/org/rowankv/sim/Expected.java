package org.rowankv.sim;

import java.util.List;
import java.util.stream.Stream;
import org.rowankv.sim.workload.Counts;

/** The events that a run of some length must contain, of whichever form; otherwise it proves nothing about them. */
public final class Expected {
    /** Points of starts, and of changes of the configuration. */
    public static final List<String> POINTS_OF_STARTS = List.of(
            "start.from-checkpoint",
            "start.segment-read",
            "start.dead-freed",
            "start.collected",
            "start.taken-over",
            "start.scattered",
            "start.recovered",
            "start.incarnation",
            "start.term",
            "configuration.before-change",
            "configuration.after-change");

    /** At the level power. */
    public static final List<String> AT_POWER = List.of(
            "power cuts",
            "words that power cuts dropped",
            "sectors that power cuts tore",
            "sectors that power cuts dropped");

    private static final List<String> OTHERS = List.of(
            "operations",
            "windows judged",
            "servers paused",
            "clocks that leapt ahead",
            "clocks that leapt back",
            "bits that flipped in a word",
            "bits that flipped in a frame",
            "bits that flipped in a header",
            "bits that flipped in an entry",
            "answers that an object cannot be read",
            "answers replayed",
            "answer OUTCOME_UNKNOWN",
            "change streams subscribed",
            "change streams cut off",
            "changes received",
            "acknowledged changes found in a stream",
            "losses of changes announced",
            "requests lost",
            "replies lost",
            "requests late",
            "requests doubled",
            "requests doubled late",
            "replies lost of requests doubled late",
            "attempts given up",
            "clocks that leapt years ahead",
            "clocks that leapt years back");

    private Expected() {}

    /** The events that did not happen: those of both forms, and of one. */
    public static List<String> missing(EventCounters met, Stream<String> ofForm) {
        final Stream<String> ofBoth = Stream.of(
                        POINTS_OF_STARTS.stream().map(Expected::reached), OTHERS.stream(), Counts.expected().stream())
                .flatMap(names -> names);
        return Stream.concat(ofBoth, ofForm)
                .distinct()
                .filter(what -> met.of(what) == 0)
                .toList();
    }

    /** The event that a point was reached. */
    public static String reached(String point) {
        return "point " + point;
    }
}
