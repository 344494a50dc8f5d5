package org.rowankv.server.embedded;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.engine.Server;
import org.rowankv.server.membership.TransferRequest;

/** A primary that is to move to another server of the same process. Any thread may ask for its state. */
public final class Transfer {
    private final TransferRequest request;
    private final List<Server> servers;
    /** Empty once the roles are in force. */
    private volatile @Nullable String refusal;

    Transfer(TransferRequest request, List<Server> servers) {
        this.request = request;
        this.servers = servers;
    }

    TransferRequest request() {
        return request;
    }

    void end(String why) {
        refusal = why;
    }

    /** Why it is refused, or never takes place; empty if neither. */
    public String refusal() {
        final String known = refusal;
        return known != null ? known : isStopped() ? "the store has stopped, see the error log" : "";
    }

    /** Whether the server serves the shard, or has handed it over in turn, or this is refused, or the store has stopped. */
    public boolean isOver() {
        final String known = refusal;
        return isStopped()
                || known != null
                        && (!known.isEmpty()
                                || !servers.get(request.to()).roleChanges().isUnopened(request.shard()));
    }

    private boolean isStopped() {
        return servers.stream().anyMatch(Server::isStopped);
    }
}
