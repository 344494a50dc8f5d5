package org.rowankv.check.disturb;

import java.util.Locale;

/**
 * A planned disturbance of server processes or ZooKeeper, with its time and duration.
 *
 * @param server the affected server, if a server is affected
 * @param afterNs start, from the beginning of its round
 * @param lengthNs how long the process is stopped or down
 */
record ServerFault(Disturbance kind, int server, long afterNs, long lengthNs) {
    /** Human-readable form. */
    String text() {
        final String seconds = String.format(Locale.ROOT, "%.1f s", lengthNs / 1e9);
        return switch (kind) {
            case KILLS -> "server-" + (server + 1) + " killed, started " + seconds + " later";
            case STOPS -> "server-" + (server + 1) + " stopped for " + seconds;
            case ZOOKEEPER_KILLS -> "ZooKeeper killed, started " + seconds + " later";
            case ZOOKEEPER_STOPS -> "ZooKeeper stopped for " + seconds;
            case SWAPS -> "primaries swapped";
            case CUTS -> "connections cut";
        };
    }
}
