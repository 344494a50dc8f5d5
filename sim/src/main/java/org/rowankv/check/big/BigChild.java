package org.rowankv.check.big;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.Server;

/**
 * The process that is killed: writers and readers of one key, on a store of its own or on a cluster. Arguments: {@code dir PATH} or
 * {@code cluster ADDRESS,…}; journal; capacity, writers, readers, sizes, budget in MiB, number of the round, seed. Without
 * writers it only looks, and lets what is orphaned be removed.
 */
public final class BigChild {
    private static final String CACHE = "big";
    private static final byte[] KEY = "the key".getBytes(StandardCharsets.UTF_8);
    private static final int MIB = 1 << 20;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final RowanClient client;
    private final int cache;
    private final BigJournal journal;
    private final List<Integer> sizes;
    private final int budget;
    private final Semaphore mib;
    private final long round;
    private final RandomSource random;

    private BigChild(RowanClient client, BigJournal journal, String[] arguments) {
        this.client = client;
        this.cache = client.catalogue().create(CACHE, new byte[0]).id();
        this.journal = journal;
        this.sizes = BigSettings.sizes(arguments[6]);
        this.budget = Integer.parseInt(arguments[7]);
        this.mib = new Semaphore(budget, true);
        this.round = Long.parseLong(arguments[8]);
        this.random = new SplittableRandomSource(Long.parseLong(arguments[9]));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (BigJournal journal = new BigJournal(Path.of(arguments[2]))) {
            final RandomSource seed = new SplittableRandomSource(Long.parseLong(arguments[9])).fork("client");
            if (arguments[0].equals("cluster")) {
                try (RowanClient client = RowanClient.connect(List.of(arguments[1].split(",", -1)))) {
                    new BigChild(client, journal, arguments).run(arguments);
                }
                return;
            }
            try (EmbeddedCluster store = EmbeddedCluster.open(embedded(arguments));
                    RowanClient client = new RowanClient(store.session(), SystemClock.INSTANCE, seed)) {
                new BigChild(client, journal, arguments).run(arguments);
                awaitRemovals(store);
            }
            journal.add("done", "closed");
        }
    }

    private static EmbeddedSettings embedded(String[] arguments) {
        return EmbeddedSettings.of(with -> {
            with.dir = Path.of(arguments[1]);
            with.capacityBytes = Long.parseLong(arguments[3]);
        });
    }

    /** The server looks for parts without a value when it starts. */
    private static void awaitRemovals(EmbeddedCluster store) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + PATIENCE_NS;
        for (Server server : store.servers()) {
            while ((server.retentionAgents().parts().rounds() == 0
                            || !server.retentionAgents().parts().isDone())
                    && SystemClock.INSTANCE.nanoTime() < untilNs) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private void run(String[] arguments) throws InterruptedException {
        look();
        final int writers = Integer.parseInt(arguments[4]);
        final List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            final int writer = i;
            callers.add(new Thread(() -> write(writer, random.fork("writer " + writer)), "writer-" + writer));
        }
        for (int i = 0; writers > 0 && i < Integer.parseInt(arguments[5]); i++) {
            callers.add(new Thread(this::read, "reader-" + i));
        }
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            caller.join(); // they end with the process
        }
    }

    /** Records the value after the start, and what it lacks. */
    private void look() {
        final Request get = new Request().get(cache, KEY, 0, KEY.length);
        final long untilNs = SystemClock.INSTANCE.nanoTime() + PATIENCE_NS;
        do {
            client.execute(get);
        } while (mayFail(get.status()) && SystemClock.INSTANCE.nanoTime() < untilNs);
        final boolean isThere = get.status() == Status.OK;
        check(get);
        if (isThere || get.status() == Status.NOT_FOUND) {
            journal.add("found", isThere ? get.version() : 0);
        }
    }

    private void check(Request get) {
        if (get.status() == Status.OK
                ? !BigValue.isWhole(get.result(), get.resultLength())
                : !isExpected(get.status())) {
            journal.add("bad", get.status() + " of a read at version " + get.version());
        }
    }

    private static boolean isExpected(Status status) {
        return status == Status.NOT_FOUND || mayFail(status);
    }

    /** Outcomes of an operation while servers are killed, or a store is full. */
    private static boolean mayFail(Status status) {
        return switch (status) {
            case NO_REPLY, UNREACHABLE, OUTCOME_UNKNOWN, FULL, STALE_TERM, NOT_PRIMARY, NO_VERSION -> true;
            default -> false;
        };
    }

    private void write(int writer, RandomSource own) {
        for (long number = 0; ; number++) {
            final Request put = new Request(); // it keeps its value, which the next wait for room must not
            final int size = sizes.get(own.nextInt(sizes.size()));
            final int permits = Math.min(budget, size / MIB + 1);
            mib.acquireUninterruptibly(permits);
            try {
                final byte[] value = BigValue.of(round << 8 | writer, number, size);
                client.execute(put.put(cache, KEY, 0, KEY.length, value, 0, value.length));
            } finally {
                mib.release(permits);
            }
            if (put.status() == Status.OK) {
                journal.add("acked", put.version());
            } else {
                journal.add(
                        mayFail(put.status()) || put.status() == Status.PARTS_MISSING ? "refused" : "bad",
                        put.status() + " of a put of " + size);
            }
        }
    }

    private void read() {
        long last = 0;
        final int permits = Math.min(budget, largest() / MIB + 1);
        while (true) {
            mib.acquireUninterruptibly(permits);
            try {
                final Request get = new Request().get(cache, KEY, 0, KEY.length);
                client.execute(get);
                check(get);
                if (get.status() == Status.OK) {
                    journal.add("read", get.version());
                    if (get.version() < last) {
                        journal.add("bad", "version " + get.version() + " was read after " + last);
                    }
                    last = get.version();
                }
            } finally {
                mib.release(permits);
            }
        }
    }

    private int largest() {
        return sizes.stream().mapToInt(Integer::intValue).max().orElse(1);
    }
}
