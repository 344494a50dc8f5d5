package org.rowankv.sim.cluster;

import java.util.List;
import org.rowankv.sim.PlantedBug;

/** The bugs of starts, roles and connections that the simulator of clusters is to find, each planted alone. */
final class ClusterPlantedBugs {
    private static final String RDMA = "rdma";
    private static final String SERVER = "server";

    static final List<PlantedBug> ALL = List.of(
            new PlantedBug(
                    "READY of the others is not awaited",
                    SERVER,
                    "org.rowankv.server.cluster.Round",
                    "cluster.await(() -> messages.ready().containsAll(others), patience);",
                    ""),
            new PlantedBug(
                    "COLLECTED of the others is not awaited",
                    SERVER,
                    "org.rowankv.server.cluster.Round",
                    "cluster.await(() -> messages.collected().containsAll(others), patience);",
                    ""),
            new PlantedBug(
                    "what was taken over is not forced before READY",
                    SERVER,
                    "org.rowankv.server.cluster.Round",
                    "read.drain();\n        read.finish();",
                    "read.finish();"),
            new PlantedBug(
                    "a backup is not given what it lacks",
                    SERVER,
                    "org.rowankv.server.cluster.Exchange",
                    "own.takeOver(entry, 0, own.replicas().get(shard).tenure());",
                    ""),
            new PlantedBug(
                    "a start does not wait for all",
                    SERVER,
                    "org.rowankv.server.cluster.ClusterServer",
                    "if (announced <= found.incarnations().get(server)) {",
                    "if (announced < found.incarnations().get(server)) {"),
            new PlantedBug(
                    "that another server has started anew is not noticed",
                    SERVER,
                    "org.rowankv.server.cluster.ClusterServer",
                    "if (said.incarnation() > own.incarnations().get(server)) {",
                    "if (said.incarnation() < 0) {"),
            new PlantedBug(
                    "a new connection does not fence the old one",
                    RDMA,
                    "org.rowankv.rdma.tcp.InboundPeers",
                    "|| hello.isDead(other.peer().pair())));",
                    "|| hello.isDead(other.peer().pair()) && other.peer().pair() < 0));"),
            new PlantedBug(
                    "a block that landed twice counts twice",
                    SERVER,
                    "org.rowankv.server.digest.EntryAssembler",
                    "|| !entry.starts.add(start)) {",
                    "|| !entry.starts.add(start) && start < 0) {"),
            new PlantedBug(
                    "blocks of an entry that is whole begin it again",
                    SERVER,
                    "org.rowankv.server.digest.EntryAssembler",
                    "if (done.contains(key)) {",
                    "if (done.contains(key) && incomplete.containsKey(key)) {"),
            new PlantedBug(
                    "a full log is closed while an entry in it is under way",
                    SERVER,
                    "org.rowankv.server.log.AppendLog",
                    "closing != segment && !underWay.test(closing)) {",
                    "closing != segment && (!underWay.test(closing) || closing >= 0)) {"),
            new PlantedBug(
                    "one entry's acknowledgement counts for another",
                    SERVER,
                    "org.rowankv.server.replication.RowanReplicator",
                    "return attempt << 36 | (restarts[server] & 0xffff) << 20 | (long) number << SERVER_BITS | server;",
                    "return (attempt << 36 | (restarts[server] & 0xffff) << 20) * 0 | (long) (number & ~1) << SERVER_BITS | server;"),
            new PlantedBug(
                    "a call that is given up keeps its worker",
                    SERVER,
                    "org.rowankv.server.SteppedCall",
                    "    public void abandon() {\n        if (place >= 0) {\n            places.giveBack(place);\n",
                    "    public void abandon() {\n        if (place >= 0) {\n"));

    private ClusterPlantedBugs() {}
}
