package org.rowankv.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.driver.RowanClient;
import org.rowankv.placement.KeyHash;
import org.rowankv.placement.ShardMap;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.Server;
import org.rowankv.server.ServerSettings;
import org.rowankv.server.ServerStatistics;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.Surroundings;

/**
 * One seed's run. The scheduler picks who goes on next; whoever reaches a named point may have to stop there while others
 * go on, which is done by running them inside that point. So of two that stop, the one that stopped later goes on
 * earlier; what needs them to cross is out of reach here and left to model checking.
 *
 * <p>Owned by one {@link SimThread}.
 */
final class Simulation {
    private static final int DEEPEST = 4;
    private static final int STUCK_AFTER_STEPS = 400_000;
    private static final int WINDOW = 400;

    private final SimPlan plan;
    private final SimMemories memories;
    private final Timeline timeline = new Timeline();
    private final Trace trace;
    private final Happenings happenings = new Happenings();
    private final RandomSource order;
    private final Chance chance;
    private final Lifetimes lifetimes = new Lifetimes();
    private final GivenVersions versions = new GivenVersions(this);
    private final SimSession session = new SimSession(this);
    private final SimNetwork network;
    private final RandomSource stores;
    private final RandomSource clientRandom;
    private final SimValues values;
    private final List<NodeClock> clocks = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final Deque<Task> stack = new ArrayDeque<>();
    private final HistoryRecorder history;
    private final Judge judge;
    private final Deque<PlannedFault> faultsToCome;
    private final Map<Integer, Integer> shards = new HashMap<>();

    private SimScheduling scheduling = new SimScheduling(this);
    private @Nullable EmbeddedCluster cluster;
    private @Nullable SimFabric fabric;
    private int incarnation;
    private int cacheId;
    private boolean accepting;
    /** Nothing goes wrong now: a judge is at work, or the store is on its way up. */
    private boolean calm = true;

    /** The store can be reached. */
    private boolean up;

    private boolean crashed;
    private int depth;
    private int crashInPoints = -1;
    private boolean cutOffNext;
    private int begun;
    private int windowBegan;
    private long stepsSinceEnd;
    private @Nullable String violation;

    Simulation(SimPlan plan, SimMemories memories, @Nullable Consumer<String> reader) {
        this.plan = plan;
        this.memories = memories;
        this.trace = new Trace(reader, timeline);
        final RandomSource random = new SplittableRandomSource(plan.seed());
        this.order = random.fork("order");
        this.chance = new Chance(plan, random.fork("points"));
        this.stores = random.fork("stores");
        this.network = new SimNetwork(this, random.fork("network"), plan.lossPerMille());
        final RandomSource nodes = random.fork("clocks");
        for (int node = 0; node <= plan.servers(); node++) {
            clocks.add(new NodeClock(
                    timeline, nodes.nextInt(401) - 200, nodes.nextLong() >>> 8, nodes.nextInt(2000) - 1000));
        }
        this.history = new HistoryRecorder(plan.clients() + 1, plan.keys());
        this.values = new SimValues(plan.smallValue(), plan.largeValue());
        this.judge = new Judge(this, history, values);
        this.faultsToCome = new ArrayDeque<>(plan.faults());
        this.clientRandom = random.fork("clients");
    }

    // --- the run ---

    /** Runs to the end or to the first violation. */
    SimReport run() {
        SimThread.current().runs(this);
        try {
            memories.begin();
            open();
            calm = true;
            judge.fill(new RowanClient(session, clientClock(), clientRandom.fork("ballast")));
            calm = false;
            for (int i = 0; i < plan.clients(); i++) {
                clients.add(new SimClient(i, this, values, history.log(i), clientRandom.fork("client " + i)));
            }
            accepting = true;
            while (begun < plan.operations()) {
                applyFaults();
                turn();
                if (begun - windowBegan >= WINDOW) {
                    restAndJudge();
                }
            }
            restAndJudge();
            finish();
        } catch (ViolationError e) {
            note(String.valueOf(e.getMessage()));
        } catch (CrashError e) {
            note("the process ended where it must not: " + describe(e));
        } catch (RuntimeException | Error e) {
            note("the store failed: " + describe(e));
        } finally {
            SimThread.current().runs(null);
        }
        return new SimReport(plan, trace.hash(), begun, happenings, violation);
    }

    private static String describe(Throwable failure) {
        final StringBuilder text = new StringBuilder(failure.toString());
        for (StackTraceElement frame : failure.getStackTrace()) {
            text.append("\n      at ").append(frame);
        }
        return failure.getCause() == null ? text.toString() : text + "\n    caused by " + describe(failure.getCause());
    }

    private void note(String what) {
        if (violation == null) {
            violation = what;
            trace.tell("VIOLATION " + what);
        }
    }

    /** A promise was broken: ends the run, also where an agent's turn reports what is thrown and goes on. */
    void violation(String what) {
        note(what);
        throw new ViolationError(what);
    }

    /** One step at the bottom of the stack, and what a crash in it entails. */
    private void turn() {
        try {
            step();
        } catch (CrashError e) {
            // Seen below: it may also have been swallowed on its way.
        }
        recoverFromCrash();
    }

    private void recoverFromCrash() {
        if (crashed) {
            crashed = false;
            happenings.count("crashes");
            timeline.advance(order.nextInt(50_000_000));
            open();
            restAndJudge();
        }
    }

    private void step() {
        checkOn();
        final Task task = choose();
        timeline.advance(order.nextInt((int) (2 * plan.stepNs())));
        if (task == null) {
            return;
        }
        stack.addLast(task);
        task.onStack(true);
        try {
            task.step();
        } finally {
            task.onStack(false);
            stack.removeLast();
        }
        checkOn();
    }

    /** What was thrown and swallowed is thrown again. */
    private void checkOn() {
        if (violation != null) {
            throw new ViolationError(violation);
        }
        if (crashed) {
            throw new CrashError();
        }
    }

    private @Nullable Task choose() {
        deliveries.removeIf(Delivery::isOver);
        final long now = timeline.nowNs();
        Task chosen = null;
        int ready = 0;
        long earliest = Task.NEVER;
        final int count =
                clients.size() + deliveries.size() + scheduling.agents().size();
        for (int i = 0; i < count; i++) {
            final Task task = task(i);
            if (task.isOnStack()) {
                continue;
            }
            final long at = task.readyAtNs();
            earliest = Math.min(earliest, at);
            // Each of those that are ready with the same chance.
            if (at <= now && order.nextInt(++ready) == 0) {
                chosen = task;
            }
        }
        if (chosen == null) {
            timeline.advanceTo(earliest == Task.NEVER ? now + 1_000_000 : earliest);
        }
        if (++stepsSinceEnd > STUCK_AFTER_STEPS) {
            violation("nothing has come to an end for " + stepsSinceEnd + " steps; under way are " + deliveries
                    + "; the servers: " + cluster().statistics() + "; they report "
                    + cluster().errors().distinct());
        }
        return chosen;
    }

    private Task task(int i) {
        if (i < clients.size()) {
            return clients.get(i);
        }
        final int rest = i - clients.size();
        return rest < deliveries.size()
                ? deliveries.get(rest)
                : scheduling.agents().get(rest - deliveries.size());
    }

    /** Somebody waits in the middle of a call: everybody else goes on. */
    void park(long ns) {
        timeline.advance(ns);
        for (int i = 0; i < 4; i++) {
            step();
        }
    }

    // --- points ---

    void onPoint(String name) {
        if (crashed) {
            throw new CrashError();
        }
        final SimFabric own = fabric;
        if (own != null && name.equals("local.after-publish")) {
            own.onPublished();
        }
        if (calm || stack.isEmpty()) {
            return;
        }
        happenings.count("point " + name);
        if (crashInPoints >= 0 && crashInPoints-- == 0) {
            crash("at " + name);
        }
        if (depth >= DEEPEST || name.startsWith("local.fence")) {
            return; // behind a fence's monitor nobody else can go on
        }
        final Task here = stack.getLast();
        if (cutOffNext && own != null && own.innermost() != null && here.isCaller()) {
            cutOffNext = false;
            cutOff(name, own, own.innermost());
            return;
        }
        switch (chance.at(name)) {
            case NOTHING -> {}
            case YIELD -> nest(1 + order.nextInt(20));
            case STALL -> stall(name, here);
            case DEATH -> {
                if (here.isCaller()) {
                    trace.tell(here + " dies at " + name);
                    happenings.count("death at " + name);
                    throw new CallerDeath(name);
                }
            }
        }
    }

    private void stall(String name, Task here) {
        trace.tell(here + " stalls at " + name);
        happenings.count("stall at " + name);
        nest(200 + order.nextInt(2500));
        trace.tell(here + " goes on at " + name);
    }

    private void cutOff(String name, SimFabric own, int @Nullable [] fromTo) {
        if (fromTo != null) {
            trace.tell("server " + fromTo[1] + " fences server " + fromTo[0] + ", which is at " + name);
            happenings.count("fences");
            happenings.count("stall at " + name);
            own.fence(cluster().servers().get(fromTo[1]), fromTo[0]);
            nest(order.nextInt(2000));
        }
    }

    private void nest(int steps) {
        depth++;
        try {
            for (int i = 0; i < steps; i++) {
                step();
            }
        } finally {
            depth--;
        }
    }

    // --- faults ---

    private void applyFaults() {
        while (!faultsToCome.isEmpty() && faultsToCome.peek().afterOperations() <= begun) {
            final PlannedFault fault = faultsToCome.remove();
            trace.tell("fault: " + fault);
            trace.mix(fault.afterOperations());
            apply(fault);
            recoverFromCrash();
        }
    }

    private void apply(PlannedFault fault) {
        switch (fault.kind()) {
            case CRASH -> crashInPoints = fault.a();
            case REOPEN -> reopen();
            case FENCE -> {
                final int to = fault.a() % plan.servers();
                final int from = fault.b() % plan.servers();
                if (to != from && fabric != null) {
                    happenings.count("fences");
                    fabric.fence(cluster().servers().get(to), from);
                }
            }
            case PAUSE -> {
                happenings.count("agents paused");
                scheduling.agents().get(fault.a() % scheduling.agents().size()).pause(plan.stepNs() * 20 * fault.b());
            }
            case LEAVE -> leave(fault.a());
            case CUT_OFF -> cutOffNext = plan.replicas() > 1;
        }
    }

    private void leave(int first) {
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get((first + i) % clients.size());
            if (client.isIdle()) {
                happenings.count("clients that left");
                try {
                    client.leave();
                } catch (CrashError e) {
                    // Recovered from by the caller; the sessions it did not close stay.
                }
                return;
            }
        }
    }

    private void crash(String where) {
        trace.tell("CRASH " + where);
        up = false;
        happenings.count("crash " + where);
        crashInPoints = -1;
        end();
        memories.crash();
        crashed = true;
        throw new CrashError();
    }

    private void reopen() {
        trace.tell("the store is closed");
        up = false;
        try {
            cluster().close();
        } catch (CrashError e) {
            return;
        }
        end();
        happenings.count("clean restarts");
        open();
        restAndJudge();
    }

    /** The present incarnation is over. */
    private void end() {
        for (ServerStatistics server : cluster().statistics()) {
            happenings.add("segments cleaned", server.cleanedSegments());
            happenings.add("tombstones dropped", server.tombstonesDropped());
            happenings.add("connections made anew", server.reconnects());
        }
        // Connections end with the process, and what is in them.
        deliveries.clear();
        requireNoErrors();
    }

    private void requireNoErrors() {
        for (ErrorLog.Observation error : cluster().errors().distinct()) {
            if (!error.type().equals(CrashError.class.getName())) {
                violation("the store reported: " + error);
            }
        }
    }

    private void open() {
        calm = true;
        scheduling = new SimScheduling(this);
        final RandomSource random = stores.fork("store " + incarnation++);
        final EmbeddedCluster opened = EmbeddedCluster.open(
                plan.settings(),
                new Surroundings(
                        server -> clocks.get(server),
                        random,
                        scheduling,
                        local -> {
                            final SimFabric own = new SimFabric(local, this);
                            fabric = own;
                            return own;
                        },
                        memories,
                        plan.hostile() ? Simulation::hostile : settings -> settings,
                        1,
                        !plan.clientsSurvive()));
        cluster = opened;
        memories.written();
        cacheId = opened.session().catalogue().create("sim", new byte[0]).id();
        for (int key = 0; key < plan.keys(); key++) {
            final byte[] bytes = SimClient.keyBytes(key);
            final Request request = new Request().get(cacheId, bytes, 0, bytes.length);
            place(request);
            shards.put(key, request.shard());
        }
        calm = false;
        up = true;
        stepsSinceEnd = 0;
        trace.mix(timeline.nowNs());
        trace.tell("the store is open in term " + opened.configuration().term());
    }

    /** Fewest posted segments, cleaning late, holes cut off soon. */
    private static ServerSettings hostile(ServerSettings usual) {
        return new ServerSettings(
                usual.workers(),
                Math.min(usual.postedAhead(), 2),
                usual.cleanerReserve(),
                usual.cleanerReserve() + 1,
                usual.cleanerReserve() + 2,
                usual.fillPercent(),
                2_000_000,
                true,
                usual.scrubBytesPerSecond());
    }

    // --- rest ---

    /** Everybody comes to rest; then the judges look. */
    private void restAndJudge() {
        windowBegan = begun;
        final boolean accepted = accepting;
        accepting = false;
        while (!isQuiet()) {
            turn();
        }
        calm = true;
        stepsSinceEnd = 0;
        cluster().releaseGrants();
        cluster().awaitDigested();
        judge.judgeWindow();
        calm = false;
        accepting = accepted;
    }

    private boolean isQuiet() {
        deliveries.removeIf(Delivery::isOver);
        return deliveries.isEmpty() && clients.stream().allMatch(SimClient::isIdle);
    }

    private void finish() {
        calm = true;
        accepting = false;
        judge.judgeSpace();
        cluster().close();
        end();
        open();
        calm = true;
        judge.judgeWindow();
        judge.judgeSpace();
        cluster().close();
        end();
    }

    // --- what others ask ---

    /** Says where the key of a request lies, as the driver does. */
    void place(Request request) {
        final KeyHash hash = new KeyHash(cluster().configuration().hashSeed());
        final long hashed = hash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
        request.placed(
                hashed, ShardMap.shardOf(hashed, cluster().configuration().shardCount()));
    }

    void onBegun() {
        begun++;
    }

    void onEnded(SimClient client, String what, Status status, long version) {
        stepsSinceEnd = 0;
        happenings.count("operations");
        happenings.count("answer " + status);
        happenings.count("operation " + what);
        trace.mix(timeline.nowNs());
        trace.mix(version * 31 + status.ordinal());
    }

    void onArrived(Delivery arrived) {
        for (Delivery delivery : deliveries) {
            if (delivery.isUnderWayWith(arrived)) {
                happenings.count("retries that met their original under way");
                return;
            }
        }
    }

    void onAnswered(Request request, boolean isCopy) {
        if (request.has(ResultBits.REPLAYED)) {
            happenings.count("answers replayed");
        }
        if (request.has(ResultBits.EXPIRED)) {
            happenings.count("expiries");
        }
        if (isCopy) {
            happenings.count("copy answered " + request.status());
        }
        trace.mix(request.sequence() * 31 + request.status().ordinal());
    }

    void add(Delivery delivery) {
        deliveries.add(delivery);
    }

    Server serverOf(int shard) {
        return cluster().servers().get(cluster().configuration().shard(shard).primary());
    }

    boolean isUp() {
        return up;
    }

    EmbeddedCluster cluster() {
        if (cluster == null) {
            throw new IllegalStateException("no store is open");
        }
        return cluster;
    }

    int shardOf(int key) {
        return shards.getOrDefault(key, 0);
    }

    SimPlan plan() {
        return plan;
    }

    Timeline timeline() {
        return timeline;
    }

    Trace trace() {
        return trace;
    }

    Happenings happenings() {
        return happenings;
    }

    Lifetimes lifetimes() {
        return lifetimes;
    }

    GivenVersions versions() {
        return versions;
    }

    SimSession session() {
        return session;
    }

    SimNetwork network() {
        return network;
    }

    Clock clientClock() {
        return clocks.get(plan.servers());
    }

    int cacheId() {
        return cacheId;
    }

    boolean isAccepting() {
        return accepting && begun < plan.operations();
    }
}
