package org.rowankv.sim.service;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.net.ChangesRequest;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.server.frontend.PendingChangesRequest.Source;
import org.rowankv.server.shard.ShardChanges;

/** The request of a subscriber to one server. Its fields are the subscriber's. */
final class Asking {
    final int server;
    long nextAtNs;

    @Nullable
    Source source;

    @Nullable
    PendingChangesRequest asked;

    long askedAtNs;

    @Nullable
    ChangesRequest question;

    boolean fromNow;
    /** A signal was given since the last poll. */
    boolean signalled;

    final Set<ShardChanges> watched = new HashSet<>();
    final Runnable watcher = this::signal;
    /** By shard that keeps changes from this request on, the last assigned version then. */
    final Map<Integer, Long> began = new HashMap<>();

    @Nullable
    ByteBuffer answer;
    /** The source of that reply. */
    @Nullable
    Source answers;
    /** Deadline of the request's wait. */
    long untilNs;

    private final Runnable onSignal;

    /** @param onSignal runs when changes are signalled for the first time since the last poll */
    Asking(int server, Runnable onSignal) {
        this.server = server;
        this.onSignal = onSignal;
    }

    private void signal() {
        if (!signalled) {
            signalled = true;
            onSignal.run();
        }
    }

    void end(long nextNs) {
        source = null;
        asked = null;
        question = null;
        answer = null;
        nextAtNs = nextNs;
    }
}
