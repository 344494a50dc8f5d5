package org.rowankv.sim.embedded;

import java.nio.charset.StandardCharsets;
import org.rowankv.check.history.Event;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.sim.workload.SimValues;

/** Objects that are written once, before any fault, and never touched again: they fill the store, and must be kept. */
final class Ballast {
    private static final long FIRST_VALUE = 1L << 50;
    private static final int MOST = 2_000;

    private final EmbeddedSimulation simulation;
    private final SimValues values;
    private final DamageChecker damage;
    /** A separate cache, because other caches are cleared. */
    private int cacheId;

    private int count;

    Ballast(EmbeddedSimulation simulation, SimValues values, DamageChecker damage) {
        this.simulation = simulation;
        this.damage = damage;
        this.values = values;
    }

    private static byte[] key(int index) {
        return ("ballast " + index).getBytes(StandardCharsets.UTF_8);
    }

    /** Writes until some server has used that share of its space, or reports that it is full. */
    void fill(RowanClient client, int percent) {
        cacheId = client.catalogue().create("ballast", new byte[0]).id();
        final Request request = new Request();
        while (percent > 0 && count < MOST && !isFilled(percent)) {
            final byte[] key = key(count);
            final byte[] value = values.of(FIRST_VALUE + count);
            client.execute(request.put(cacheId, key, 0, key.length, value, 0, value.length));
            if (request.status() == Status.FULL) {
                break;
            }
            if (request.status() != Status.OK) {
                simulation.violation("ballast was answered " + request.status());
            }
            count++;
            simulation.scheduler().onProgress();
        }
        client.close();
    }

    private boolean isFilled(int percent) {
        for (ServerStatistics server : simulation.store().cluster().statistics()) {
            if (server.spaceAvailable() * 100 < server.spaceLimit() * (100 - percent)) {
                return true;
            }
        }
        return false;
    }

    void check() {
        final Request request = new Request();
        for (int index = 0; index < count; index++) {
            final byte[] key = key(index);
            request.get(cacheId, key, 0, key.length);
            simulation.place(request);
            simulation.session().call(request);
            if (request.status() == Status.CORRUPTED) {
                damage.mend(request);
            }
            final long found = request.status() == Status.OK
                    ? values.idIn(request.result(), request.resultLength())
                    : Event.ABSENT;
            if (found != FIRST_VALUE + index) {
                simulation.loss(
                        false,
                        "ballast " + index + " is answered " + request.status() + " and value #"
                                + Long.toHexString(found));
            }
        }
    }
}
