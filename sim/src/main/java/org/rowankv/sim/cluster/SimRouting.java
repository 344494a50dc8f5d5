package org.rowankv.sim.cluster;

import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.Exchange;
import org.rowankv.topology.Configuration;

/**
 * The connections of one client to the cluster. It holds a configuration, which may be stale; sends requests to the
 * primary in it; and fetches a newer one on request, or when no reply arrives. Runs in the client's steps.
 */
final class SimRouting extends Exchange implements Session {
    private final ClusterSimulation simulation;
    private final RandomSource random;
    private Configuration known;
    private int pauses;
    private Status last = Status.OK;

    SimRouting(ClusterSimulation simulation, RandomSource random, Configuration known) {
        super(
                simulation,
                random,
                2_000_000
                        + 300 * simulation.plan().stepNs()
                        + 40L * simulation.clusterPlan().latencyNs(),
                simulation.clusterPlan().doublings());
        this.simulation = simulation;
        this.random = random;
        this.known = known;
    }

    @Override
    public Configuration configuration() {
        return known;
    }

    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public void call(Request request) {
        throw new UnsupportedOperationException("its client does not wait");
    }

    @Override
    protected void begins(Request next) {
        pauses = isRepeated(next) ? pauses : 0;
    }

    @Override
    protected void send(int number, Request next) {
        final int primary = known.shard(next.shard()).primary();
        simulation.network().send(this, number, next, primary, known.term());
    }

    @Override
    protected void givenUp() {
        learn();
        last = Status.NO_REPLY;
    }

    @Override
    protected void take(Request found, Request asked) {
        last = found.status();
        if (last == Status.CLOSED) {
            count(last);
            last = Status.UNREACHABLE; // of an ending process: the next one may accept it
            asked.fail(last);
        } else {
            super.take(found, asked);
            if (last.isForAnother()) {
                count(last);
            }
        }
    }

    private void count(Status status) {
        simulation.eventCounters().count("attempts answered " + status);
    }

    @Override
    protected long pauseNs() {
        return last.isForAnother()
                ? fractionNs(4, Math.min(simulation.clusterPlan().doublings(), pauses++))
                : 0;
    }

    @Override
    public boolean seek(long knownTerm) {
        learn();
        return known.term() > knownTerm;
    }

    /** Any serving server sends the configuration it knows. */
    private void learn() {
        final SimHost host =
                simulation.hosts().get(random.nextInt(simulation.hosts().size()));
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        if (door != null && door.configuration().term() > known.term()) {
            known = door.configuration();
            simulation.eventCounters().count("configurations that clients learned");
        }
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Catalogue catalogue() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        // Stateless.
    }
}
