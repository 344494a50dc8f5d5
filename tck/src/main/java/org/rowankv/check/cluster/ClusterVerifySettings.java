package org.rowankv.check.cluster;

import java.nio.file.Path;
import org.rowankv.node.Launch;

/**
 * What a run of {@code verify --cluster} does.
 *
 * @param seconds how long at least; longer until everything that it is to show has happened
 * @param callers in all client JVMs together
 * @param jvms that they are spread over
 * @param seed of callers and disturbances; how processes interleave is not in it
 * @param servers how the server processes are started
 * @param clientJava the program that runs the clients
 */
public record ClusterVerifySettings(
        int seconds, int callers, int jvms, int keys, long seed, Launch servers, Path clientJava) {
    public ClusterVerifySettings {
        if (seconds < 1 || jvms < 1 || callers < jvms || keys < 1) {
            throw new IllegalArgumentException(
                    "seconds and keys are at least 1, threads at least as many as there are client JVMs");
        }
    }
}
