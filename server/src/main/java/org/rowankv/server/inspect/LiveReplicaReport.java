package org.rowankv.server.inspect;

import java.util.List;
import java.util.stream.Collectors;
import org.rowankv.protocol.Version;
import org.rowankv.server.inspect.ReplicaReport.ShardDigests;

/**
 * A comparison of a running store's replicas at one CommitVer of each shard.
 *
 * @param objects of all shards, on their primaries
 * @param versions by shard, that CommitVer
 * @param shards the digests, of in-sync replicas
 * @param damages skipped places, each with server and offset; their entries are missing in a digest
 */
public record LiveReplicaReport(long objects, List<Long> versions, List<ShardDigests> shards, List<String> damages) {
    public LiveReplicaReport {
        versions = List.copyOf(versions);
        shards = List.copyOf(shards);
        damages = List.copyOf(damages);
    }

    /** Whether all replicas hold the same, and nothing is damaged. */
    public boolean agrees() {
        return damages.isEmpty() && shards.stream().allMatch(ShardDigests::agree);
    }

    /** For display: a line for each shard whose replicas differ, with the content of each, and for each damage. */
    public List<String> findings() {
        final List<String> findings = shards.stream()
                .filter(shard -> !shard.agree())
                .map(shard -> "shard " + shard.shard() + " differs at version "
                        + Version.toString(versions.get(shard.shard())) + ": "
                        + shard.replicas().stream()
                                .map(replica -> String.format(
                                        "server %d holds %d objects, digest %016x",
                                        replica.server(), replica.objects(), replica.digest()))
                                .collect(Collectors.joining("; ")))
                .collect(Collectors.toList());
        damages.forEach(damage -> findings.add("damaged: " + damage));
        return findings;
    }
}
