package org.rowankv.sim.embedded;

import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.rowankv.check.history.CallerLog;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.Machine;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.sim.ClientNetwork.Message;
import org.rowankv.sim.SeedServices;
import org.rowankv.sim.SimClient;
import org.rowankv.sim.service.BlockingCaller;
import org.rowankv.sim.service.LiveCopies;
import org.rowankv.sim.service.SessionLeases;
import org.rowankv.sim.service.StoreScene;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.SimValues;

/** The activities of a simulated store beside the clients. */
final class Services extends SeedServices implements StoreScene {
    private static final int WITHOUT_STREAM_ONE_IN = 8;
    private static final int COPIES_ONE_IN = 4;

    private final EmbeddedSimulation simulation;
    private final RandomSource choice;
    private final SimValues values;
    private int copies;

    /**
     * Draws them.
     *
     * @param log receives the changes of subscribers and the contents of copies
     * @param waiting log of the blocking caller
     */
    Services(EmbeddedSimulation simulation, RandomSource random, CallerLog log, CallerLog waiting) {
        super(simulation);
        this.simulation = simulation;
        this.choice = random.fork("choice");
        this.values = simulation.plan().values();
        final EmbeddedPlan storePlan = simulation.storePlan();
        final long stepNs = simulation.plan().stepNs();
        final RandomSource streams = random.fork("streams");
        if (streams.nextInt(WITHOUT_STREAM_ONE_IN) > 0) {
            addSubscriber(new StoreStreams(simulation), streams, log);
        }
        if (storePlan.leaseNs() > 0) {
            add(new SessionLeases(this, random.fork("leases"), storePlan.leaseNs()));
        }
        if (storePlan.deadlineMs() > 0) {
            add(new BlockingCaller(this, random.fork("callers"), waiting, storePlan.deadlineMs() * 1_000_000, stepNs));
        }
        final RandomSource reading = random.fork("copies");
        if (reading.nextInt(COPIES_ONE_IN) == 0) {
            add(new LiveCopies(this, reading, log, stepNs));
        }
    }

    @Override
    public boolean isUp() {
        return simulation.store().isUp();
    }

    @Override
    public EmbeddedCluster cluster() {
        return simulation.store().cluster();
    }

    @Override
    public int cacheId() {
        return simulation.workload().caches().first().id();
    }

    @Override
    public int keys() {
        return simulation.workload().caches().first().keys();
    }

    @Override
    public byte[] key(int number) {
        return CacheLife.keyBytes(number);
    }

    @Override
    public long valueOf(byte[] bytes, int length) {
        return values.idIn(bytes, length);
    }

    @Override
    public EmbeddedCluster openCopy(Path directory) {
        return EmbeddedCluster.open(
                simulation.storePlan().settingsOfCopy(directory),
                new EmbeddedContext(
                        simulation.store()::clock,
                        choice.fork("copy " + copies++),
                        new CopyScheduling(simulation.timeline()),
                        UnaryOperator.identity(),
                        null,
                        Machine.PRESENT,
                        usual -> {},
                        1,
                        false));
    }

    @Override
    public void undisturbed(Runnable action) {
        simulation.undisturbed(action);
    }

    @Override
    public byte[] value(long id) {
        return values.of(id);
    }

    @Override
    public boolean mayAsk() {
        return simulation.isAccepting() && simulation.bias().isUsual();
    }

    @Override
    public void begun(int key, long value) {
        simulation.workload().lifetimes().begins(key, value);
        if (!simulation.workload().caches().first().limit().isNone()) {
            simulation.workload().lifetimes().evictable(key, value, nowNs());
        }
    }

    @Override
    public void requireServing() {
        simulation.stops().requireServing();
    }

    @Override
    public void call(Request request) {
        simulation.place(request);
        simulation.session().call(request);
    }

    @Override
    public void deliver(Request request) {
        final int server = simulation.store().serverOf(request.shard()).serverId();
        simulation
                .scheduler()
                .add(new Delivery(simulation, new Message(null, 0, request, server, 0, true, false, true), nowNs()));
    }

    @Override
    public boolean vanish() {
        final List<SimClient> clients = simulation.clients();
        final SimClient client = clients.get(choice.nextInt(clients.size()));
        if (!client.isIdle() || !simulation.isAccepting()) {
            return false;
        }
        client.vanish();
        return true;
    }
}
