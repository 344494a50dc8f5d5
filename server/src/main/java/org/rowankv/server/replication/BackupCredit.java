package org.rowankv.server.replication;

import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.QueuePair;

/**
 * The space that one worker holds at each backup for its next entries, in bytes. Has the owner of its {@link
 * BackupConnections}.
 */
final class BackupCredit {
    /** Acquired in portions of this size, so that one update of the shared counter covers many entries. */
    private static final int PORTION = 32 << 10;

    private final BackupConnections connections;
    /** Negative: owed. */
    private final long[] held;
    /** By server: whether the answer to the last request is outstanding. */
    private final boolean[] awaited;
    /** By server: whether a portion was refused, so that only the exact amount is requested. */
    private final boolean[] exactOnly;

    BackupCredit(BackupConnections connections, int serverCount) {
        this.connections = connections;
        this.held = new long[serverCount];
        this.awaited = new boolean[serverCount];
        this.exactOnly = new boolean[serverCount];
    }

    /**
     * Takes so many bytes at each of the servers.
     *
     * @return −1 when granted, otherwise a server without them; then none is taken
     */
    int acquire(int[] servers, long needed) {
        for (int i = 0; i < servers.length; i++) {
            final int server = servers[i];
            if (held[server] < needed && !acquireFrom(server, needed)) {
                for (int j = 0; j < i; j++) {
                    put(servers[j], needed);
                }
                return server;
            }
            held[server] -= needed;
        }
        return -1;
    }

    private boolean acquireFrom(int server, long needed) {
        final @Nullable QueuePair pair = connections.pair(server);
        if (pair == null) {
            awaited[server] = true;
            return false;
        }
        if (!exactOnly[server]) {
            held[server] += pair.acquireCredit(needed - held[server] + PORTION);
            awaited[server] = pair.awaitsCredit();
            if (held[server] >= needed) {
                return true;
            }
            if (awaited[server]) {
                return false;
            }
            exactOnly[server] = true; // no space for a portion; there may be enough for the entry
        }
        held[server] += pair.acquireCredit(needed - held[server]);
        awaited[server] = pair.awaitsCredit();
        final boolean granted = held[server] >= needed;
        exactOnly[server] = !granted && awaited[server];
        if (!granted && !awaited[server]) {
            connections.countCreditRefusal();
        }
        return granted;
    }

    /** Whether the answer to the last request to that server, or the connection to it, is outstanding. */
    boolean isAwaited(int server) {
        return awaited[server];
    }

    /** Keeps credit for the next entries; above two portions, releases all but one. */
    void put(int server, long bytes) {
        held[server] += bytes;
        final QueuePair pair = held[server] > 2 * PORTION ? connections.pair(server) : null;
        if (pair != null) {
            final long spare = held[server] - PORTION;
            held[server] = PORTION; // first: an error may strike in between
            pair.returnCredit(spare);
        }
    }

    void release() {
        for (int server = 0; server < held.length; server++) {
            if (held[server] < 0) {
                repay(server);
                continue;
            }
            // Also without credit: an outstanding request may have been granted since. Credit granted over a broken
            // connection stays reserved for this worker until it is released, and an idle worker opens no other
            // connection.
            final QueuePair pair = held[server] > 0 ? connections.pair(server) : connections.last(server);
            if (pair != null) {
                returnAll(server, pair);
            }
        }
    }

    private void returnAll(int server, QueuePair pair) {
        final long bytes = held[server];
        held[server] = 0; // first: an error may strike in between
        pair.returnCredit(bytes);
    }

    private void repay(int server) {
        final QueuePair pair = connections.pair(server);
        if (pair != null) {
            held[server] += pair.acquireCredit(-held[server]);
            awaited[server] = pair.awaitsCredit();
        }
    }

    /** As {@link #release} during use: keeps credit whose request is outstanding. */
    void releaseSpare() {
        for (int server = 0; server < held.length; server++) {
            final QueuePair pair = held[server] > 0 && !awaited[server] ? connections.pair(server) : null;
            if (pair != null) {
                returnAll(server, pair);
            }
        }
    }

    /** Bytes are used that were not acquired: they are acquired with the next. */
    void owe(int server, long bytes) {
        held[server] -= bytes;
    }

    /** Another incarnation of that server has other space. */
    void forget(int server) {
        held[server] = 0;
        awaited[server] = false;
        exactOnly[server] = false;
    }
}
