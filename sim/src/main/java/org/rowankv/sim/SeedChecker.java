package org.rowankv.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.state.StateChecker;
import org.rowankv.sim.workload.WindowChecker;
import org.rowankv.topology.Configuration;

/**
 * Checker of a run during a pause: the value and the history of every key, and the servers' internal state. All servers
 * serve, no client sends requests, and no faults are injected.
 */
public abstract class SeedChecker {
    /** Enough for agents that have fallen behind. */
    protected static final int TURNS_TO_SETTLE = 400;

    private static final long LIMITS_NS = 1_000_000;
    private static final long SPACE_NS = 5_000_000;

    private final SeedRun run;
    private final WindowChecker window;
    private final StateChecker states;

    protected SeedChecker(SeedRun run) {
        this.run = run;
        this.window = run.workload().windowChecker();
        this.states = new StateChecker(run::violation);
    }

    protected final WindowChecker window() {
        return window;
    }

    protected final StateChecker states() {
        return states;
    }

    /** By number. */
    protected abstract List<Server> servers();

    /** Servers that may hold damage. */
    protected abstract Set<Integer> damaged();

    /** Reads a key, whose location is set. */
    protected abstract void read(Request request, List<Server> servers);

    /** Waits until all servers have digested everything. */
    protected abstract void settle(List<Server> servers);

    /** One pause of a wait. */
    protected abstract void pause(List<Server> servers, long ns);

    /** Closes a session. */
    protected abstract void close(Request request, List<Server> servers);

    /** Reads every key and checks its history since the last pause; then compares the replicas. */
    public final void checkWindow() {
        final List<Server> servers = servers();
        begin(servers);
        awaitLimits(servers);
        window.check(
                request -> {
                    run.place(request);
                    read(request, servers);
                },
                run.services()::read);
        run.services().afterReads();
        afterReads();
        settle(servers); // a read may have logged an expiry
        settled();
        final Configuration configuration = run.configuration();
        states.requireAgreement(configuration, servers, damaged());
        states.requireCounts(whole(servers), configuration.shardCount());
        states.requireEvictions(servers, run.workload().caches().lives());
        states.requireSegments(servers);
        end(servers);
    }

    /** Before the reads. */
    protected void begin(List<Server> servers) {
        // Nothing is left to wait for.
    }

    protected void afterReads() {
        // The clients' keys are all that there is.
    }

    /** Before replicas are compared. */
    protected void settled() {
        // What is damaged may be mended later.
    }

    /** After the checks of every form. */
    protected void end(List<Server> servers) {
        // There are no others.
    }

    /** The servers without damage: what could not be mended stays. */
    private List<Server> whole(List<Server> servers) {
        final List<Server> whole = new ArrayList<>(servers);
        whole.removeIf(server -> damaged().contains(server.serverId()));
        return whole;
    }

    /** Waits until evictions reach the limits. */
    private void awaitLimits(List<Server> servers) {
        String above = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            above = states.aboveLimits(
                    run.configuration(), servers, run.workload().caches().lives());
            if (above.isEmpty()) {
                return;
            }
            pause(servers, LIMITS_NS);
        }
        run.violation("limits are not kept: " + above);
    }

    /** Closes every session; then the used space must equal the live data. */
    public final void checkSpace() {
        final List<Server> servers = servers();
        closeSessions(servers);
        String difference = "";
        for (int i = 0; i < TURNS_TO_SETTLE; i++) {
            // Each time: late attempts of vanished clients may still arrive.
            servers.forEach(server -> server.spaceRequests().releaseGrants());
            settle(servers);
            difference = states.spaceDifference(whole(servers));
            if (difference.isEmpty()) {
                return;
            }
            pause(servers, SPACE_NS);
        }
        run.violation("space is not accounted for: " + difference);
    }

    private void closeSessions(List<Server> servers) {
        final Configuration configuration = run.configuration();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final Server primary = servers.get(configuration.shard(shard).primary());
            for (long sessionId : primary.replicas().get(shard).sessions().openIds()) {
                final Request request = new Request().closeSession(shard, sessionId);
                close(request, servers);
                if (request.status() != Status.OK) {
                    run.violation("closing a session during a pause was answered " + request.status());
                }
            }
        }
    }
}
