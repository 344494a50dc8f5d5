package org.rowankv.check.soak;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;

/** A thread that writes its own keys, or reads any key, and compares every reply with the model. */
final class SoakClient {
    private final RowanClient client;
    private final Clock clock;
    private final RandomSource random;
    private final List<SoakModel> models;
    private final int[] cacheIds;
    /** Number of keys in use of each cache. */
    private final IntUnaryOperator keysInUse;

    private final SoakCounts counts;
    private final Consumer<String> violations;
    private final Request request = new Request();
    private final byte[] value = new byte[SoakValue.longest()];

    SoakClient(
            RowanClient client,
            Clock clock,
            RandomSource random,
            List<SoakModel> models,
            int[] cacheIds,
            IntUnaryOperator keysInUse,
            SoakCounts counts,
            Consumer<String> violations) {
        this.client = client;
        this.clock = clock;
        this.random = random;
        this.models = models;
        this.cacheIds = cacheIds.clone();
        this.keysInUse = keysInUse;
        this.counts = counts;
        this.violations = violations;
    }

    private int anyKey(int kind) {
        final int keys = keysInUse.applyAsInt(kind);
        // Half of the operations use a tenth of the keys.
        return random.nextInt(2) == 0 ? random.nextInt(keys) : random.nextInt(Math.max(1, keys / 10));
    }

    private int anyKind() {
        // Mostly the lasting kind; the other kinds about equally often.
        final int kind = Math.max(0, random.nextInt(5) - 2);
        final int firstLimited = SoakModel.Kind.LIMITED.ordinal();
        return kind < firstLimited ? kind : firstLimited + random.nextInt(models.size() - firstLimited);
    }

    /** Writes keys with that remainder, until the run is over. */
    void write(int remainder, int writers, BooleanSupplier isOver) {
        while (!isOver.getAsBoolean()) {
            final int kind = anyKind();
            final int key = anyKey(kind) / writers * writers + remainder;
            if (key < keysInUse.applyAsInt(kind)) {
                write(kind, key);
            }
        }
    }

    void read(BooleanSupplier isOver) {
        while (!isOver.getAsBoolean()) {
            final int kind = anyKind();
            read(kind, anyKey(kind));
        }
    }

    /** Performs the next operation on that key. */
    void write(int kind, int key) {
        final SoakModel model = models.get(kind);
        final long number = model.next(key);
        final byte[] bytes = SoakValue.key(kind, key);
        final boolean removal = model.isRemoval(key, number);
        if (removal) {
            request.delete(cacheIds[kind], bytes, 0, bytes.length);
        } else {
            final int length = SoakValue.write(kind, key, number, value);
            final long ttlMs =
                    model.kind() == SoakModel.Kind.MORTAL ? SoakValue.lifetimeMs(kind, key, number) : Ttl.ETERNAL;
            request.put(cacheIds[kind], bytes, 0, bytes.length, value, 0, length)
                    .ttl(ttlMs, ttlMs);
        }
        final Boolean mustExist = model.mustExist(key);
        final long formerBegunMs = model.begunMs(key);
        model.begins(key, number, clock.wallMs());
        client.execute(request);
        final Status status = request.status();
        if (status == Status.FULL && !removal) {
            model.refused(key, formerBegunMs);
            counts.refusals.increment();
            return;
        }
        if (status != Status.OK && !(removal && status == Status.NOT_FOUND)) {
            violation(kind, key, "operation " + number + " was answered " + status);
            return;
        }
        model.settles(key, number, clock.wallMs());
        final boolean existed = request.has(ResultBits.EXISTED);
        if (mustExist != null && mustExist != existed) {
            violation(kind, key, "operation " + number + " met " + (existed ? "an object" : "nothing"));
        }
        if (removal) {
            (existed ? counts.removals : counts.removalsOfNothing).increment();
        } else {
            (existed ? counts.overwrites : counts.creations).increment();
        }
    }

    /** Reads that key and compares. */
    void read(int kind, int key) {
        final SoakModel model = models.get(kind);
        final byte[] bytes = SoakValue.key(kind, key);
        final SoakModel.Before before = model.before(key, clock.wallMs());
        client.execute(request.get(cacheIds[kind], bytes, 0, bytes.length));
        final String wrong;
        if (request.status() == Status.OK) {
            wrong = model.whyWrong(key, before, request.result(), request.resultLength());
            counts.hits.increment();
        } else if (request.status() == Status.NOT_FOUND) {
            wrong = model.whyWrongAbsence(key, before, clock.wallMs());
            counts.misses.increment();
        } else {
            wrong = "a read was answered " + request.status();
        }
        if (wrong != null) {
            violation(kind, key, wrong);
        }
    }

    private void violation(int kind, int key, String what) {
        violations.accept("key " + key + " of the " + models.get(kind).kind() + " cache: " + what);
    }

    void close() {
        client.close();
    }
}
