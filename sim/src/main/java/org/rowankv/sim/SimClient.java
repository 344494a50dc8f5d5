package org.rowankv.sim;

import static java.util.Objects.requireNonNull;

import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.RequestAttempts;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.WorkloadBias;
import org.rowankv.sim.workload.WorkloadClient;

/**
 * A client that runs the driver's own code: performs random operations on random keys, one at a time, and records the
 * replies.
 */
public final class SimClient extends Task {
    private final int number;
    private final SeedRun run;
    private final Exchange exchange;
    private final WorkloadBias inclination;
    private final WorkloadClient asks;
    private final IntFunction<RowanClient> clients;
    private final LongSupplier thinkNs;
    private RowanClient client;
    private int clientsBefore;
    private boolean leaving;

    // --- the operation in progress ---
    private @Nullable RequestAttempts stepped;
    /** Sent when the pause before it is over. */
    private @Nullable Request upcoming;

    private long pauseEndNs;
    private long nextAtNs;

    /**
     * Idle.
     *
     * @param questions random source of its operations
     * @param clients the driver's client, by the number of those before
     * @param thinkNs draws a pause between two operations
     */
    public SimClient(
            int number,
            SeedRun run,
            Exchange exchange,
            RandomSource questions,
            WorkloadBias inclination,
            IntFunction<RowanClient> clients,
            LongSupplier thinkNs) {
        this.number = number;
        this.run = run;
        this.exchange = exchange;
        this.inclination = inclination;
        this.asks = run.workload().client(number, questions, inclination);
        this.clients = clients;
        this.thinkNs = thinkNs;
        this.client = clients.apply(0);
        exchange.serve(this);
    }

    public boolean isIdle() {
        return stepped == null;
    }

    /** Leaves in order, and returns as another client. Precondition: idle. */
    public void leave() {
        leaving = true;
        try {
            client.close();
        } finally {
            leaving = false;
        }
        vanish();
    }

    /**
     * Vanishes without closing anything, and returns as another client: its sessions end with their leases.
     * Precondition: idle.
     */
    public void vanish() {
        client = clients.apply(++clientsBefore);
    }

    /** The run ends before the operation does: it may take effect, or not. */
    public void giveUp() {
        if (stepped != null) {
            asks.giveUp();
        }
    }

    @Override
    public long readyAtNs() {
        if (stepped == null) {
            return run.isAccepting() && !leaving && inclination.lets(number) ? nextAtNs : NEVER;
        }
        return upcoming != null ? pauseEndNs : exchange.readyAtNs();
    }

    @Override
    public void step() {
        final RequestAttempts own = stepped;
        if (own == null) {
            begin();
        } else if (upcoming != null) {
            send(upcoming);
        } else {
            exchange.finish();
            goOn(own, own.answered());
        }
    }

    private void goOn(RequestAttempts own, @Nullable Request next) {
        if (next == null) {
            stepped = null;
            end();
            return;
        }
        final long pauseNs = own.pauseNs() + exchange.pauseNs();
        if (pauseNs > 0) {
            upcoming = next;
            pauseEndNs = run.timeline().nowNs() + pauseNs;
        } else {
            send(next);
        }
    }

    private void begin() {
        final Request request = asks.begin();
        run.onBegun();
        final RequestAttempts begun = client.attempts(request);
        stepped = begun;
        send(requireNonNull(begun.next()));
    }

    private void send(Request next) {
        upcoming = null;
        asks.sends(next);
        exchange.begin(next);
    }

    private void end() {
        exchange.over();
        nextAtNs = run.timeline().nowNs() + thinkNs.getAsLong();
        inclination.ended(number, run.begun());
        run.onEnded(asks.request());
        asks.end();
    }

    @Override
    public String toString() {
        return "client " + number;
    }
}
