package org.rowankv.check.chaos;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rowankv.check.disturb.CutNetwork;
import org.rowankv.check.disturb.SmallDisks;

/** A kind of fault. Reports use this order. */
public enum ChaosFault {
    /** A JVM starts, and nothing else happens: what the machine alone costs. */
    CONTROL(true),
    /** The primaries of a server are transferred to their backups, one after the other. */
    TRANSFER(true),
    /** SIGTERM of a server: others take its roles over, it ends, and is started. */
    RESTART(true),
    /** The same of all servers, one after the other, each when all replicas are complete again. */
    ROLLING_RESTART(true),
    /** SIGKILL of a server other than the configuration manager. */
    KILL(true),
    /** SIGKILL of the configuration manager. */
    KILL_MANAGER(true),
    /** SIGKILL of a server, and of another one as soon as the first is back with all its replicas. */
    KILL_TWO_IN_TURN(true),
    /** SIGSTOP of a server for longer than a lease, then SIGCONT. */
    PAUSE(true),
    /** The same of the configuration manager. */
    PAUSE_MANAGER(true),
    /** A server is cut off from the others and ZooKeeper in both directions; sometimes from clients too, or readers with it. */
    PARTITION(true),
    /** What a server sends to the others does not arrive, or what they send to it; clients and ZooKeeper reach it. */
    PARTITION_ONE_WAY(true),
    /** A server is cut off from ZooKeeper alone. */
    PARTITION_ZOOKEEPER(true),
    /** A server's disk is full; sometimes it is killed, and starts there. A small tmpfs; needs root. */
    FULL_DISK(true),
    /** SIGKILL of ZooKeeper. */
    ZOOKEEPER(true),
    /** SIGKILL of all servers at once; they start in a drawn order. */
    POWER(false),
    /** SIGKILL of ZooKeeper and of a server: nothing can exclude it until ZooKeeper is back. */
    ZOOKEEPER_AND_SERVER(false),
    /** SIGKILL of two servers at once: all complete replicas of some shards. */
    ALL_REPLICAS(false);

    private static final String NONE = "none";

    private final boolean survivable;

    ChaosFault(boolean survivable) {
        this.survivable = survivable;
    }

    /** Whether applications must notice nothing but a delay. Otherwise operations may fail; nothing may be lost. */
    public boolean isSurvivable() {
        return survivable;
    }

    /** Whether roles are handed over, if they move at all: subscribers lose nothing. */
    boolean isPlanned() {
        return this == CONTROL || this == TRANSFER || this == RESTART || this == ROLLING_RESTART;
    }

    /** Whether it needs proxies between the processes. */
    boolean isOfNetwork() {
        return this == PARTITION || this == PARTITION_ONE_WAY || this == PARTITION_ZOOKEEPER;
    }

    /** Whether a server stands still or is cut off, so that its length counts in leases. */
    boolean isInLeases() {
        return this == PAUSE || this == PAUSE_MANAGER || isOfNetwork();
    }

    /** Name in a report: {@code kill_manager}. */
    public String reportName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Name in an option: {@code kill-manager}. */
    public String optionName() {
        return reportName().replace('_', '-');
    }

    /** Whether this system can inject it. */
    public boolean isPossible() {
        return isOfNetwork() ? CutNetwork.isSupported() : this != FULL_DISK || SmallDisks.areAvailable();
    }

    /** All names, in the form of an option. */
    public static String optionNames() {
        return Arrays.stream(values()).map(ChaosFault::optionName).collect(Collectors.joining(","));
    }

    /**
     * Parses comma-separated names, or {@code none}.
     *
     * @throws IllegalArgumentException if a name is unknown; the message lists the known ones
     */
    public static List<ChaosFault> parse(String names) {
        final List<ChaosFault> parsed = new ArrayList<>();
        if (names.strip().equals(NONE)) {
            return parsed;
        }
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
