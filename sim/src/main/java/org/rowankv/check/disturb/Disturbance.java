package org.rowankv.check.disturb;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A kind of fault injected into a cluster. Reports use this order. */
public enum Disturbance {
    /** SIGKILL of a server, and a restart a while later. */
    KILLS,
    /** SIGSTOP of a server, and SIGCONT a while later. */
    STOPS,
    /** SIGSTOP of ZooKeeper, and SIGCONT a while later. */
    ZOOKEEPER_STOPS,
    /** SIGKILL of ZooKeeper, and a restart on the same data. */
    ZOOKEEPER_KILLS,
    /** New primaries for about half of the shards. */
    SWAPS,
    /** Client connections break, one after the other, continuously. */
    CUTS;

    /** Name in a report: {@code zookeeper_stops}. */
    public String reportName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Name in an option: {@code zookeeper-stops}. */
    public String optionName() {
        return reportName().replace('_', '-');
    }

    /** All names, in the form of an option. */
    public static String optionNames() {
        return Arrays.stream(values()).map(Disturbance::optionName).collect(Collectors.joining(","));
    }

    /**
     * Parses comma-separated names.
     *
     * @throws IllegalArgumentException if a name is unknown, or there is none; the message lists the known ones
     */
    public static Set<Disturbance> parse(String names) {
        final Set<Disturbance> parsed = EnumSet.noneOf(Disturbance.class);
        for (String name : names.split(",", -1)) {
            parsed.add(Arrays.stream(values())
                    .filter(each -> each.optionName().equals(name.strip()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "\"" + name.strip() + "\" is no disturbance; known are: " + optionNames())));
        }
        return parsed;
    }

    boolean isOfZooKeeper() {
        return this == ZOOKEEPER_STOPS || this == ZOOKEEPER_KILLS;
    }

    boolean isOfServer() {
        return this == KILLS || this == STOPS;
    }
}
