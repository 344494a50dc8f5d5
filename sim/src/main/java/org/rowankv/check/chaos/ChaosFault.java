package org.rowankv.check.chaos;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A kind of fault. Reports use this order. */
public enum ChaosFault {
    /** A JVM starts, and nothing else happens: what the machine alone costs. */
    CONTROL(true),
    /** SIGKILL of a server. */
    KILL(true),
    /** SIGKILL of the configuration manager. */
    KILL_MANAGER(true),
    /** SIGKILL of a server, and of another one as soon as the first is back with all its replicas. */
    KILL_TWO_IN_TURN(true),
    /** SIGSTOP of a server for longer than a lease, then SIGCONT. */
    PAUSE(true),
    /** The same of the configuration manager. */
    PAUSE_MANAGER(true),
    /** SIGKILL of all servers at once; they start in a drawn order. */
    POWER(false);

    private final boolean survivable;

    ChaosFault(boolean survivable) {
        this.survivable = survivable;
    }

    /** Whether applications must notice nothing but a delay. Otherwise operations may fail; nothing may be lost. */
    public boolean isSurvivable() {
        return survivable;
    }

    /** Name in a report: {@code kill_manager}. */
    public String reportName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Name in an option: {@code kill-manager}. */
    public String optionName() {
        return reportName().replace('_', '-');
    }

    /** All names, in the form of an option. */
    public static String optionNames() {
        return Arrays.stream(values()).map(ChaosFault::optionName).collect(Collectors.joining(","));
    }

    /**
     * Parses comma-separated names.
     *
     * @throws IllegalArgumentException if a name is unknown; the message lists the known ones
     */
    public static List<ChaosFault> parse(String names) {
        final List<ChaosFault> parsed = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            parsed.add(Arrays.stream(values())
                    .filter(each -> each.optionName().equals(name.strip()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(
                            "\"" + name.strip() + "\" is no fault; known are: " + optionNames())));
        }
        return parsed.stream().distinct().toList();
    }
}
