package org.rowankv.tools;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.ReplicaReport;
import org.rowankv.server.inspect.ReplicaReport.Difference;
import org.rowankv.server.inspect.ReplicaReport.Digest;
import org.rowankv.server.inspect.ReplicaReport.ShardDigests;
import org.rowankv.server.inspect.StoreInspection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rowan verify-replicas}: whether all servers of a closed store hold the same. */
@Command(
        name = "verify-replicas",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Reads the areas of a closed store without changing them, and compares a digest of keys, versions and values of"
                    + " every replica of every shard. If digests differ it prints shards and keys.",
            "Its last line is \"verify-replicas: shards=N objects=N differing=0\". Exit codes: 0; 1 if something differs"
                    + " or is damaged; 2 if the directory cannot be read, is in use, or is not a store."
        })
public final class VerifyReplicasCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DIR", description = "directory of the store (dir=)")
    private Path directory;

    @Option(names = "--digests", description = "print the digest of every replica of every shard")
    private boolean digests;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new VerifyReplicasCommand()).execute(args));
    }

    @Override
    public Integer call() {
        final PrintWriter out = spec.commandLine().getOut();
        try (ClosedStore store = ClosedStore.open(directory)) {
            final StoreInspection inspection = StoreInspection.of(store);
            for (int server = 0; server < store.shape().servers(); server++) {
                if (inspection.configuration().isJoining(server)) {
                    out.println("note: server " + server
                            + " is joining: its partial copy was left out; the next opening copies the rest");
                }
            }
            return print(inspection.compareReplicas(), out);
        } finally {
            out.flush();
        }
    }

    private int print(ReplicaReport report, PrintWriter out) {
        for (ShardDigests shard : report.shards()) {
            if (digests || !shard.agree()) {
                for (Digest replica : shard.replicas()) {
                    out.printf(
                            "shard %d server %d: objects %d digest %016x%n",
                            shard.shard(), replica.server(), replica.objects(), replica.digest());
                }
            }
        }
        report.differences().forEach(each -> print("differs", each, out));
        report.unsettled().forEach(each -> print("unsettled", each, out));
        if (!report.unsettled().isEmpty()) {
            out.println(
                    "note: the store was not closed, and " + report.unsettled().size()
                            + " differences belong to writes in flight: the next opening settles them");
        }
        if (report.replicas() == 1) {
            out.println("note: each shard has one replica: there is nothing to compare");
        }
        if (report.damagedPlaces() > 0) {
            out.println("note: " + report.damagedPlaces()
                    + " damaged places were left out: rowan inspect --verify names them");
        }
        out.println("verify-replicas: shards=" + report.shards().size() + " objects=" + report.objects() + " differing="
                + report.differences().size());
        return report.differences().isEmpty() && report.damagedPlaces() == 0 ? StoreCommand.WELL : StoreCommand.WRONG;
    }

    private static void print(String verdict, Difference difference, PrintWriter out) {
        out.printf(
                "%s: shard %d cache %d key %s: server %d holds %s, server %d holds %s%n",
                verdict,
                difference.shard(),
                difference.cacheId(),
                KeyText.of(difference.key()),
                difference.primary(),
                difference.onPrimary(),
                difference.backup(),
                difference.onBackup());
    }
}
