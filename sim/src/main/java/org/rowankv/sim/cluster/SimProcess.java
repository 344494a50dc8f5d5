package org.rowankv.sim.cluster;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterContext;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.StartPhase;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.engine.Server;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.sim.CrashError;
import org.rowankv.sim.device.DeviceFailedException;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** One life of a server: a process with the server's own code in it, from its start to its end. */
final class SimProcess {
    /** ClusterFaults of which a correct peer is never accused, whatever happens to the connection. */
    private static final WireFault[] MISTAKES = {
        WireFault.BAD_LENGTH,
        WireFault.BAD_CHECKSUM,
        WireFault.BAD_FRAME,
        WireFault.OUT_OF_ORDER,
        WireFault.BEYOND_ITS_WINDOW,
        WireFault.IMPOSTOR
    };

    /** The entry point for clients. */
    record Door(
            Server server,
            Configuration configuration,
            ClusterCatalogue catalogue,
            PortCaches caches,
            List<SimLoop> loops) {
        Door in(Configuration next) {
            return new Door(server, next, catalogue, caches, loops);
        }
    }

    private final ClusterSimulation simulation;
    private final SimHost host;
    private final int life;
    private final ErrorLog errors;
    private final SimNic nic;
    private final ProcessFabric fabric;
    private final ProcessScheduling scheduling;
    private final ClusterServer server;
    private @Nullable Door door;
    private boolean dead;
    private boolean stopping;
    private long pausedUntilNs;
    /** Ends after this many points of its start; −1: not at a point. */
    private int crashIn = -1;
    /** Counts only points of that name; empty: any. */
    private String crashAt = "";

    SimProcess(ClusterSimulation simulation, SimHost host, int life, RandomSource random) {
        this.simulation = simulation;
        this.host = host;
        this.life = life;
        this.errors = new ErrorLog(host.clock());
        this.scheduling = new ProcessScheduling(simulation, this, random.fork("device"));
        this.nic = new SimNic(simulation, this, random.fork("nic"));
        final ServerAddresses addresses = new ServerAddresses();
        final ClusterPlan clusterPlan = simulation.clusterPlan();
        this.fabric = ProcessFabric.open(
                simulation,
                this,
                LandingFabricSettings.of(
                        new InetSocketAddress("127.0.0.1", host.port()), addresses::addressOf, with -> {
                            with.keepsReserve = true;
                            with.maxMessage = simulation.plan().maxMessage();
                            with.connectTimeoutMs = clusterPlan.connectMs();
                            with.retryMs = clusterPlan.retryMs();
                            with.heartbeatMs = clusterPlan.heartbeatMs();
                            with.idleTimeoutMs = 4 * clusterPlan.heartbeatMs();
                            with.clock = host.clock();
                            with.ackLevel = simulation.plan().power() ? AckLevel.FORCED : AckLevel.LANDED;
                            with.authentication =
                                    PeerAuthentication.of(ClusterPlan.SECRET, random.fork("handshakes")::nextLong);
                        }));
        this.server = new ClusterServer(
                clusterPlan.settings(host),
                new ClusterContext(
                        simulation.coordinator().seenBy(this, random.fork("store")),
                        fabric.fabric(),
                        addresses,
                        host.clock(),
                        random.fork("server"),
                        scheduling,
                        errors,
                        1,
                        clientEndpoint(),
                        (path, name, cluster, acceptCopied, drawn) -> host.home(),
                        number -> host.checkpoints(),
                        with -> {
                            if (!host.hasServed()) {
                                with.counters = clusterPlan.counters();
                            }
                        }));
    }

    void begin() {
        server.start();
    }

    private ClientEndpoint clientEndpoint() {
        return (opened, routing, catalogue) -> {
            host.serves();
            open(opened, routing, catalogue);
            return new ClientEndpoint.Opened() {
                @Override
                public void pause() {
                    close();
                    // A port's loops finish their current steps: the next term uses the same area.
                    while (simulation.scheduler().isInAttemptAt(SimProcess.this)) {
                        Fiber.required().rest(simulation.timeline().nowNs() + 10_000);
                    }
                }

                @Override
                public void route(Routing inForce) {
                    final Door present = door;
                    if (present != null) {
                        door = present.in(inForce.configuration());
                        simulation.roles().follows(SimProcess.this, inForce.configuration());
                        simulation.serves(inForce.configuration());
                        simulation.eventCounters().count("configurations that running servers adopted");
                        simulation.trace().tell("server " + SimProcess.this + " follows to term " + inForce.term());
                    }
                }

                @Override
                public void close() {
                    door = null;
                }
            };
        };
    }

    private void open(Server opened, Routing routing, ClusterCatalogue catalogue) {
        requireAlive();
        final int loops = simulation.plan().workers();
        final Door own = new Door(
                opened,
                routing.configuration(),
                catalogue,
                new PortCaches(simulation.coordinator(), catalogue.known()),
                IntStream.range(0, loops)
                        .mapToObj(loop -> new SimLoop(opened.callsOfLoop(loop, loops)))
                        .toList());
        door = own;
        simulation.roles().serves(this, own.configuration());
        simulation.serves(own.configuration());
        simulation.eventCounters().count("servers that began to serve");
        simulation.trace().tell("server " + this + " serves in term " + routing.term());
        simulation.trace().mix(routing.term());
    }

    /** It holds everything that its roles require, in the term that it has adopted. */
    void completed() {
        final Configuration adopted = server.configuration();
        if (adopted == null) {
            throw new AssertionError("server " + this + " has taken over what it lacked in no term");
        }
        simulation.roles().completed(this, adopted);
    }

    private void requireAlive() {
        if (dead) {
            throw new CrashError();
        }
    }

    /** @param name of the points that count; empty: any */
    void crashIn(int points, String name) {
        crashIn = points;
        crashAt = name;
    }

    /** Whether it will end at a point that it has not met. */
    boolean isToCrash() {
        return crashIn >= 0;
    }

    /** At a point of its start: whether it ends there. */
    boolean endsHere(String name) {
        return !simulation.isCalm() && crashIn >= 0 && (crashAt.isEmpty() || crashAt.equals(name)) && crashIn-- == 0;
    }

    void pause(long untilNs) {
        pausedUntilNs = untilNs;
        simulation.scheduler().changed(this);
    }

    /** Stalls until then. */
    long pausedUntilNs() {
        return pausedUntilNs;
    }

    /** From now on it sends nothing. */
    void died(boolean isSilent) {
        checkErrors();
        dead = true;
        simulation.scheduler().died();
        door = null;
        simulation.wire().ended(this, isSilent);
        fabric.end(isSilent);
        nic.end();
    }

    /** It was asked to stop. */
    boolean isStopping() {
        return stopping;
    }

    boolean isDead() {
        return dead;
    }

    /** Releases its roles cleanly, and ends. */
    void stop() {
        stopping = true;
        scheduling.begin("stop", true, () -> {
            server.close();
            simulation.eventCounters().count("servers that stopped in order");
            host.exited(this);
        });
    }

    /** Its reports, and its accusations of peers, must be explained by broken connections. */
    void checkErrors() {
        final RuntimeException failure = server.failure();
        simulation.deviceFaults().requireRuns(host, failure);
        final boolean isOfDevice = failure != null && DeviceFailedException.isCauseOf(failure);
        for (ErrorLog.Observation error : errors.distinct()) {
            if (!error.type().equals(CrashError.class.getName())
                    && !error.type().equals(FabricException.class.getName())
                    && !(isOfDevice && isOfFailedForce(error))
                    && !simulation.deviceFaults().explains(host, error)
                    && !isExpected(error)) {
                simulation.violation("server " + this + " reported: " + error);
            }
        }
        for (WireFault mistake : MISTAKES) {
            if (fabric.faults(mistake) > 0) {
                simulation.violation("server " + this + " found that of a peer: " + mistake.text());
            }
        }
        if (failure != null && !isOfDevice && !(failure.getCause() instanceof CrashError)) {
            simulation.violation("server " + this + " failed: " + failure);
        }
    }

    /** A chore was interrupted when the server lost its roles, or the configuration store was unavailable. */
    private static boolean isExpected(ErrorLog.Observation error) {
        return error.type().endsWith("StaleTermException")
                || error.type().endsWith("ConfigurationStoreException")
                || error.type().equals(NotServedException.class.getName())
                        && (error.message().startsWith("the server restarts")
                                || error.message().startsWith("the server stops")
                                || error.message().startsWith("the server is stopping"));
    }

    private static boolean isOfFailedForce(ErrorLog.Observation error) {
        return error.type().equals(ForceFailedException.class.getName())
                || error.message().contains("could not be forced")
                || error.message().contains("are not on the device")
                || error.message().contains("the simulated device");
    }

    /** Whether it may answer without its backups now. */
    boolean mayAnswer() {
        return server.mayAnswer();
    }

    @Nullable
    RuntimeException failure() {
        return server.phase() == StartPhase.FAILED ? server.failure() : null;
    }

    /** The serving entry point, or null. */
    @Nullable
    Door door() {
        return door;
    }

    StartPhase phase() {
        return server.phase();
    }

    SimHost host() {
        return host;
    }

    SimNic nic() {
        return nic;
    }

    ProcessScheduling scheduling() {
        return scheduling;
    }

    String state() {
        return this + " is " + server.phase() + (server.saying().isEmpty() ? "" : " (" + server.saying() + ")")
                + " in "
                + (server.configuration() == null
                        ? "no term"
                        : "term " + server.configuration().term())
                + (door == null || door.server().copies().progress().isEmpty()
                        ? ""
                        : " copies " + door.server().copies().progress())
                + (door == null
                        ? ""
                        : " openings " + door.server().roleChanges().openings())
                + (errors.count() == 0 ? "" : ", reports " + errors.distinct());
    }

    @Override
    public String toString() {
        return host.name() + "/" + life;
    }
}
