package org.rowankv.sim.cluster;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.Task;
import org.rowankv.sim.verbs.SimVerbs;

/** The network card of one process: the event loop that lands entries, run by the simulation. */
final class SimNic extends AbstractScheduledEventExecutor implements IoEventLoop {
    private static final long WAIT_NS = 10_000;
    private static final IoHandlerContext NEVER_BLOCKS = new NeverBlocks();

    private final ClusterSimulation simulation;
    private final Steps steps;
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<SimChannel> channels = new ArrayList<>();
    private final Time time = new Time();
    private @Nullable SimVerbs device;
    private @Nullable IoHandler polling;
    private final DefaultPromise<Void> ended = new DefaultPromise<>(ImmediateEventExecutor.INSTANCE);

    /** Its steps. */
    private final class Steps extends ProcessTask {
        private final SimProcess process;
        private final RandomSource random;

        Steps(SimProcess process, RandomSource random) {
            super(process);
            this.process = process;
            this.random = random;
        }

        @Override
        public long readyAtNs() {
            return Math.max(nextNs(), process.pausedUntilNs());
        }

        @Override
        public void step() {
            run(1 + random.nextInt(8));
        }

        @Override
        public String toString() {
            return "NIC of " + process;
        }
    }

    /** The simulation's clock. */
    private final class Time implements Ticker {
        @Override
        public long initialNanoTime() {
            return 0;
        }

        @Override
        public long nanoTime() {
            return simulation.timeline().nowNs();
        }

        @Override
        public void sleep(long delay, TimeUnit unit) {
            throw new UnsupportedOperationException("a network card does not sleep");
        }
    }

    /** What others submitted: they wait in simulated time. */
    private final class Submitted<T> extends DefaultPromise<T> {
        Submitted() {
            super(ImmediateEventExecutor.INSTANCE);
        }

        @Override
        public boolean await(long timeout, TimeUnit unit) {
            final long untilNs = time.nanoTime() + unit.toNanos(timeout);
            while (!isDone() && time.nanoTime() < untilNs) {
                simulation.scheduler().park(WAIT_NS);
            }
            return isDone();
        }
    }

    /** The simulation runs others instead. */
    private static final class NeverBlocks implements IoHandlerContext {
        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return 0;
        }

        @Override
        public long deadlineNanos() {
            return 0;
        }
    }

    SimNic(ClusterSimulation simulation, SimProcess process, RandomSource random) {
        this.simulation = simulation;
        this.steps = new Steps(process, random);
        simulation.scheduler().add(steps);
    }

    /** It is that of an RDMA device, which the handler polls. */
    void uses(SimVerbs polled, IoHandler handler) {
        device = polled;
        polling = handler;
    }

    // --- steps ---

    private long nextNs() {
        if (!tasks.isEmpty() || hasDeviceWork()) {
            return 0;
        }
        final long deadline = nextScheduledTaskDeadlineNanos();
        long next = deadline < 0 ? Task.NEVER : deadline;
        for (int i = 0; i < channels.size(); i++) {
            next = Math.min(next, channels.get(i).nextNs());
        }
        return next;
    }

    private boolean hasDeviceWork() {
        final SimVerbs polled = device;
        return polled != null && polled.hasWork();
    }

    private void run(int most) {
        Runnable due = pollScheduledTask(time.nanoTime());
        while (due != null) {
            tasks.addLast(due);
            due = pollScheduledTask(time.nanoTime());
        }
        for (int i = 0; i < most && !tasks.isEmpty(); i++) {
            tasks.removeFirst().run();
        }
        poll(most);
        if (channels.isEmpty()) {
            return;
        }
        final List<SimChannel> present = List.copyOf(channels);
        final int first = steps.random.nextInt(present.size());
        for (int i = 0; i < present.size(); i++) {
            final SimChannel channel = present.get((first + i) % present.size());
            if (channel.nextNs() <= simulation.timeline().nowNs()) {
                channel.arrive();
                if (--most <= 0) {
                    return;
                }
            }
        }
    }

    /** At least once: it also looks after connections that close. */
    private void poll(int most) {
        final IoHandler handler = polling;
        if (handler == null) {
            return;
        }
        int count = 0;
        do {
            handler.run(NEVER_BLOCKS);
            count++;
        } while (count < most && hasDeviceWork());
    }

    /** Its process has ended: what is held for it can be released. */
    void end() {
        final boolean unused = ended.trySuccess(null);
    }

    /** The time of its next event may have changed. */
    void changed() {
        simulation.scheduler().changed(steps);
    }

    void joined(SimChannel channel) {
        channels.add(channel);
        changed();
    }

    void left(SimChannel channel) {
        channels.remove(channel);
        changed();
    }

    List<SimChannel> channels() {
        return channels;
    }

    // --- Netty's interface ---

    @Override
    public Ticker ticker() {
        return time;
    }

    @Override
    public boolean inEventLoop(Thread thread) {
        return simulation.scheduler().current() == steps;
    }

    @Override
    public void execute(Runnable task) {
        tasks.addLast(task);
        changed();
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        final Submitted<T> result = new Submitted<>();
        execute(() -> {
            try {
                result.setSuccess(task.call());
            } catch (Exception e) {
                result.setFailure(e);
            }
        });
        return result;
    }

    @Override
    public EventLoopGroup parent() {
        return this;
    }

    @Override
    public IoEventLoop next() {
        return this;
    }

    @Override
    public boolean isIoType(Class<? extends IoHandler> type) {
        return type.isInstance(polling);
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return false;
    }

    @Override
    public Future<IoRegistration> register(IoHandle handle) {
        throw new UnsupportedOperationException("its channels have no handles");
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel) {
        return register(new DefaultChannelPromise(channel, this));
    }

    @Override
    @Deprecated
    public ChannelFuture register(ChannelPromise promise) {
        promise.channel().unsafe().register(this, promise);
        return promise;
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        channel.unsafe().register(this, promise);
        return promise;
    }

    @Override
    public boolean isShuttingDown() {
        return false;
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return false;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException("it ends with its process");
    }

    @Override
    public Future<?> terminationFuture() {
        return ended;
    }

    @Override
    @Deprecated
    public void shutdown() {
        throw new UnsupportedOperationException("it ends with its process");
    }
}
