package org.rowankv.check.disturb;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** What is done to a cluster. The order is that of reports. */
public enum Disturbance {
    /** SIGKILL of a server, and a new start a while later. */
    KILLS,
    /** SIGSTOP of a server, and SIGCONT a while later. */
    STOPS,
    /** SIGSTOP of ZooKeeper, and SIGCONT a while later. */
    ZOOKEEPER_STOPS,
    /** SIGKILL of ZooKeeper, and a new start on the same data. */
    ZOOKEEPER_KILLS,
    /** Other primaries for about half of the shards. */
    SWAPS,
    /** Connections of clients break, one after the other, all the time. */
    CUTS;

    /** In a report: {@code zookeeper_stops}. */
    public String reportName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** As an option: {@code zookeeper-stops}. */
    public String optionName() {
        return reportName().replace('_', '-');
    }

    /** All, as an option has them. */
    public static String optionNames() {
        return Arrays.stream(values()).map(Disturbance::optionName).collect(Collectors.joining(","));
    }

    /**
     * From names with commas between them.
     *
     * @throws IllegalArgumentException if one is not known, or there is none; says which there are
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

    /** Whether it is done to ZooKeeper's process. */
    boolean isOfZooKeeper() {
        return this == ZOOKEEPER_STOPS || this == ZOOKEEPER_KILLS;
    }

    /** Whether it is done to a server's process. */
    boolean isOfServer() {
        return this == KILLS || this == STOPS;
    }
}
