package org.rowankv.check.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.client.ChainCaller;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.HonestFailure;
import org.rowankv.check.client.Keys;
import org.rowankv.check.client.RegisterCaller;
import org.rowankv.check.client.Window;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ChainLink;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.runtime.SystemClock;

/**
 * Checker that reads every key while the callers pause, and checks its history since the last pause.
 *
 * <p>An operation of unknown outcome may take effect as long as its session is open, which is until the end. So a key
 * with several of them is retired: callers stop using it, its slot continues with a new key, and it is read and checked
 * once more at the end. Confined to one thread.
 */
public final class KeyChecker {
    private static final int CALLER = -1;
    /** A key with more operations that may still take effect is retired. */
    private static final int MOST_PENDING = 2;
    /** All servers serve, so one retry of a read should suffice. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    /** A slot, and the name of its current or former key. */
    private record Key(int slot, String name) {}

    /** A key and its ledger; exactly one of the two ledgers is set. */
    private record Held(
            Key key,
            @Nullable RegisterLedger register,
            @Nullable ChainLedger chain) {}

    /** Values read by the checker, by key name, with the times. */
    private record Reading(Map<String, String> values, Map<String, Long> counts, long invokedNs, long returnedNs) {}

    private final Keys keys;
    private final Cache<String, String> cache;
    private final Cache<String, Long> counters;
    private final int[] generations;
    private final RegisterLedger[] registers;
    private final ChainLedger[] chains;
    private final List<Held> retired = new ArrayList<>();

    public KeyChecker(CacheManager manager, Keys keys) {
        this.keys = keys;
        this.cache = ClientJvm.openCache(manager);
        this.counters = ClientJvm.openCounters(manager);
        this.generations = new int[keys.slots()];
        this.registers = new RegisterLedger[keys.registers()];
        this.chains = new ChainLedger[keys.slots() - keys.registers()];
        for (int slot = 0; slot < keys.slots(); slot++) {
            begin(slot);
        }
    }

    private void begin(int slot) {
        if (slot < keys.registers()) {
            registers[slot] = new RegisterLedger(slot);
        } else {
            chains[slot - keys.registers()] = new ChainLedger(slot, keys.kindOf(slot) == Keys.Kind.COUNTER);
        }
    }

    /** Key generations of the slots, for the next window. */
    public int[] generations() {
        return generations.clone();
    }

    int retired() {
        return retired.size();
    }

    /**
     * Checks all keys.
     *
     * @return anomalies as text
     * @throws IOException if a key cannot be read
     */
    public List<String> check(Window window) throws IOException {
        final List<String> anomalies = new ArrayList<>();
        final Reading reading = read(IntStream.range(0, keys.slots())
                .mapToObj(slot -> new Key(slot, Keys.name(slot, generations[slot])))
                .toList());
        for (int slot = 0; slot < keys.slots(); slot++) {
            final String key = Keys.name(slot, generations[slot]);
            final boolean isRegister = slot < keys.registers();
            final RegisterLedger register = isRegister ? registers[slot] : null;
            final ChainLedger chain = isRegister ? null : chains[slot - keys.registers()];
            anomalies.addAll(check(new Held(new Key(slot, key), register, chain), reading, window));
            final int pending = register != null ? register.pending() : chain != null ? chain.pending() : 0;
            if (pending > MOST_PENDING) {
                retired.add(new Held(new Key(slot, key), register, chain));
                generations[slot]++;
                begin(slot);
            }
        }
        return anomalies;
    }

    /** As {@link #check(Window)}, for the retired keys. Call at the end. */
    public List<String> checkRetired() throws IOException {
        final List<String> anomalies = new ArrayList<>();
        final Reading reading = read(retired.stream().map(Held::key).toList());
        final Window nothing = new Window();
        for (Held each : retired) {
            anomalies.addAll(check(each, reading, nothing));
        }
        return anomalies;
    }

    private List<String> check(Held held, Reading reading, Window window) {
        final List<Anomaly> anomalies = new ArrayList<>();
        final Key key = held.key();
        final RegisterLedger register = held.register();
        if (register != null) {
            final long value = RegisterCaller.idOf(reading.values().get(key.name()));
            final boolean isThere = value != Event.ABSENT;
            anomalies.addAll(register.check(
                    window.values(key.slot()),
                    new ValueEvent(
                            CALLER,
                            ValueAction.GET,
                            Event.ABSENT,
                            Event.ABSENT,
                            isThere ? Outcome.DONE : Outcome.NOT_FOUND,
                            isThere ? value : Event.NOT_ASKED,
                            reading.invokedNs(),
                            reading.returnedNs())));
        }
        final ChainLedger chain = held.chain();
        if (chain != null) {
            final ChainLink link = chain.isCounter()
                    ? ChainCaller.countOf(reading.counts().get(key.name()))
                    : ChainCaller.linkOf(reading.values().get(key.name()));
            anomalies.addAll(chain.check(
                    window.chains(key.slot()),
                    new ChainEvent(CALLER, false, link, Outcome.DONE, reading.invokedNs(), reading.returnedNs())));
        }
        return anomalies.stream().map(Anomaly::toString).toList();
    }

    /** Reads all keys; lost replies are retried. */
    private Reading read(List<Key> all) throws IOException {
        final Set<String> names = new HashSet<>();
        final Set<String> ofCounters = new HashSet<>();
        all.forEach(key -> (keys.kindOf(key.slot()) == Keys.Kind.COUNTER ? ofCounters : names).add(key.name()));
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        while (true) {
            final long invokedNs = SystemClock.INSTANCE.nanoTime();
            try {
                return new Reading(
                        cache.getAll(names), counters.getAll(ofCounters), invokedNs, SystemClock.INSTANCE.nanoTime());
            } catch (RuntimeException e) {
                if (HonestFailure.outcomeOf(e, true) == null
                        || SystemClock.INSTANCE.nanoTime() - fromNs >= PATIENCE_NS) {
                    throw new IOException("keys cannot be read although all servers serve: " + e, e);
                }
            }
        }
    }
}
