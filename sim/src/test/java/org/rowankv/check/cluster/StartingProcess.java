package org.rowankv.check.cluster;

import java.io.IOException;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;

/** A process that starts a temporary cluster, says where it is, and waits until it is ended. */
final class StartingProcess {
    private StartingProcess() {}

    public static void main(String[] arguments) throws IOException {
        final TemporaryCluster cluster =
                TemporaryCluster.start("left", 1, 1, "32m", Launch.DEFAULT.withJvmOptions("-Xmx192m"));
        System.out.println("STARTED " + cluster.dir());
        System.out.flush();
        while (System.in.read() >= 0) {
            // No input arrives.
        }
    }
}
