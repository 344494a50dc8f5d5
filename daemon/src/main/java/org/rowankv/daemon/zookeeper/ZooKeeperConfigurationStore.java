package org.rowankv.daemon.zookeeper;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.NodeDescriptor;
import org.rowankv.server.configstore.NodePath;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.StoreThread;
import org.rowankv.server.configstore.VersionedNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration store of a cluster, in ZooKeeper, below {@code /rowan/CLUSTER}.
 *
 * <p>The version of a node is the transaction of ZooKeeper that last changed it, so no path has a version twice, although
 * deleted nodes are gone. ZooKeeper itself compares only a count of changes, which begins anew with each creation. So
 * every deletion changes a node of its own, and every change depends on what that node was before the changed node was
 * read: if any node was deleted meanwhile, it is read and compared again. Empty nodes count as absent: parents, and nodes
 * that earlier releases deleted, which the next listing removes.
 *
 * <p>Nothing is retried here: a change with a lost connection may have been applied, and a retry would meet its own
 * first attempt. The caller reads back and compares the stamp. Reads sync first: they return the last committed state,
 * not a stale one. Listings, which may take long, hold up nothing else.
 *
 * <p>Thread-safe; an interrupt of the caller does not end a call. No ephemeral nodes, no dependence on sessions.
 */
public class ZooKeeperConfigurationStore implements ConfigurationStore {
    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperConfigurationStore.class);
    private static final String ROOT = "rowan";
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final byte[] NOTHING = {};
    /** Empty; its count of changes is that of transactions that deleted nodes. No path of the interface. */
    private static final String DELETIONS = "/.deletions";

    /** Of one listing's answer, in bytes: ZooKeeper's default ends at 8,456 long names of caches. */
    private static final int MOST_LISTED = 64 << 20;
    /** Nodes removed in one transaction, which must fit a request. */
    private static final int REMOVED_AT_ONCE = 500;

    private final String where;
    private final CuratorFramework curator;
    /** A request has failed by then. */
    private final long mostMs;

    private final StoreThread calls;
    private final StoreThread listings;
    private final @Nullable UnprotectedNodes unprotectedNodes;

    /** As below, without a credential: its nodes are open to every client. */
    public ZooKeeperConfigurationStore(String servers, String cluster, int connectionTimeoutMs) {
        this(servers, cluster, connectionTimeoutMs, null);
    }

    /**
     * Starts to connect, without waiting.
     *
     * @param servers of ZooKeeper, {@code host:port[,host:port…][/path]}
     * @param cluster name of the cluster
     * @param connectionTimeoutMs how long a call waits for a connection before it fails
     * @param auth credential for ZooKeeper; created nodes are accessible to it alone. Null: to every client
     * @throws IllegalArgumentException if the server list is invalid
     */
    public ZooKeeperConfigurationStore(
            String servers, String cluster, int connectionTimeoutMs, @Nullable ZooKeeperAuth auth) {
        if (servers.isBlank()) {
            throw new IllegalArgumentException("no servers of ZooKeeper: write host:port,host:port");
        }
        this.where = "ZooKeeper at " + servers;
        this.mostMs = connectionTimeoutMs + 2L * Math.max(SESSION_TIMEOUT_MS, connectionTimeoutMs);
        final ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(MOST_LISTED));
        final CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .namespace(ROOT + "/" + cluster)
                .sessionTimeoutMs(Math.max(SESSION_TIMEOUT_MS, connectionTimeoutMs))
                .connectionTimeoutMs(connectionTimeoutMs)
                .retryPolicy((count, elapsedMs, sleeper) -> false)
                .dontUseContainerParents()
                .zkClientConfig(config);
        if (auth != null) {
            builder.authorization(auth.scheme(), auth.bytes()).aclProvider(new CreatorOnly());
        }
        this.curator = builder.build();
        this.unprotectedNodes = auth == null ? null : new UnprotectedNodes(curator, where);
        this.calls = thread("rowan-zookeeper", where);
        this.listings = thread("rowan-zookeeper-list", where);
        curator.start();
    }

    private static StoreThread thread(String name, String where) {
        return new StoreThread(
                name, "the connection with " + where, cause -> where + " does not answer: " + reason(cause));
    }

    /** For all nodes, parents too: their creator has all permissions, others none. */
    private static final class CreatorOnly implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }
    }

    /** Whether all of these servers have loopback addresses; an unresolvable one has not. */
    public static boolean isOnThisMachine(String servers) {
        final int path = servers.indexOf('/');
        for (String server : (path < 0 ? servers : servers.substring(0, path)).split(",")) {
            final int colon = server.lastIndexOf(':');
            final String host = colon < 0 ? server : server.substring(0, colon);
            try {
                if (!InetAddress.getByName(host.strip()).isLoopbackAddress()) {
                    return false;
                }
            } catch (UnknownHostException e) {
                LOG.debug("{} has no address", host, e);
                return false;
            }
        }
        return true;
    }

    @Override
    public @Nullable VersionedNode read(String path) {
        NodePath.require(path);
        return calls.call(() -> {
            catchUp(path);
            return find(path).node;
        });
    }

    /** A node, and its count of changes in ZooKeeper: −1 if there is no node, not even an empty one. */
    private record Found(@Nullable VersionedNode node, int changes) {
        /** Whether it is what the caller of a change expects. */
        boolean isAt(long expectedVersion) {
            return node == null ? expectedVersion == ABSENT : node.version() == expectedVersion;
        }
    }

    /**
     * What is read after this is no older than this call, also by another server: a client never goes back in time. So
     * one per attempt suffices for all that it reads, in whatever order.
     */
    private void catchUp(String path) throws Exception {
        curator.sync().forPath(path);
    }

    private Found find(String path) throws Exception {
        final Stat stat = new Stat();
        final byte[] bytes;
        try {
            bytes = curator.getData().storingStatIn(stat).forPath(path);
        } catch (KeeperException.NoNodeException e) {
            return new Found(null, -1);
        }
        if (unprotectedNodes != null) {
            unprotectedNodes.check(path);
        }
        if (bytes == null || bytes.length == 0) {
            return new Found(null, stat.getVersion());
        }
        final String reason = NodeDescriptor.whyInvalid(bytes);
        if (reason != null || !NodeDescriptor.path(bytes).equals(path)) {
            throw new ConfigurationStoreException("the node " + path + " in " + where + " cannot be read: "
                    + (reason == null ? "it belongs to " + NodeDescriptor.path(bytes) : reason)
                    + ". Put it back from a backup");
        }
        final VersionedNode node = NodeDescriptor.node(bytes);
        return new Found(new VersionedNode(node.bytes(), stat.getMzxid(), node.stamp()), stat.getVersion());
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        NodePath.require(path);
        if (bytes.length > MAX_NODE_LENGTH) {
            throw new IllegalArgumentException(
                    "node " + path + " of " + bytes.length + " bytes is longer than " + MAX_NODE_LENGTH);
        }
        if (condition != null && condition.version() == ABSENT) {
            throw new IllegalArgumentException("a condition needs a node that was read: " + condition);
        }
        final byte[] node = NodeDescriptor.encode(path, new VersionedNode(bytes.clone(), 0, stamp));
        return calls.call(() -> change(path, expectedVersion, node, condition));
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        NodePath.require(path);
        return expectedVersion != ABSENT && calls.call(() -> delete(path, expectedVersion, false));
    }

    /** The count of deletions; read before the nodes that a change depends on. */
    private int deletions() throws Exception {
        Stat stat = curator.checkExists().forPath(DELETIONS);
        while (stat == null) {
            try {
                final String unused = curator.create().creatingParentsIfNeeded().forPath(DELETIONS, NOTHING);
            } catch (KeeperException.NodeExistsException e) {
                LOG.debug("{} was created by another process", DELETIONS, e);
            }
            stat = curator.checkExists().forPath(DELETIONS);
        }
        return stat.getVersion();
    }

    private CuratorOp checkOf(String path, int changes) throws Exception {
        return curator.transactionOp().check().withVersion(changes).forPath(path);
    }

    /** All of them or none; tests act between the reads of a change and this. */
    void commit(List<CuratorOp> operations) throws Exception {
        final List<CuratorTransactionResult> unused = curator.transaction().forOperations(operations);
    }

    /** Terminates: each further attempt follows a change or a deletion by another process. */
    private boolean change(String path, long expectedVersion, byte[] bytes, @Nullable NodeVersion condition)
            throws Exception {
        while (true) {
            catchUp(path);
            final List<CuratorOp> operations = new ArrayList<>();
            operations.add(checkOf(DELETIONS, deletions()));
            final Found found = find(path);
            if (!found.isAt(expectedVersion)) {
                return false;
            }
            if (condition != null) {
                final Found other = find(condition.path());
                if (!other.isAt(condition.version())) {
                    return false;
                }
                operations.add(checkOf(condition.path(), other.changes));
            }
            if (found.changes < 0) {
                createParentOf(path);
                operations.add(curator.transactionOp().create().forPath(path, bytes));
            } else {
                operations.add(curator.transactionOp()
                        .setData()
                        .withVersion(found.changes)
                        .forPath(path, bytes));
            }
            try {
                commit(operations);
                return true;
            } catch (KeeperException.BadVersionException
                    | KeeperException.NoNodeException
                    | KeeperException.NodeExistsException e) {
                LOG.debug("{} or what its change depends on was changed meanwhile", path, e);
            }
        }
    }

    private void createParentOf(String path) throws Exception {
        final int end = path.lastIndexOf('/');
        if (end == 0) {
            return; // it has one, as the node that counts deletions
        }
        final String parent = path.substring(0, end);
        if (curator.checkExists().forPath(parent) != null) {
            return;
        }
        try {
            final String unused = curator.create().creatingParentsIfNeeded().forPath(parent, NOTHING);
        } catch (KeeperException.NodeExistsException e) {
            LOG.debug("{} was created by another process", parent, e);
        }
    }

    /** Terminates as a change does. @param isParent whether nodes are below it: then it stays, empty */
    private boolean delete(String path, long expectedVersion, boolean isParent) throws Exception {
        while (true) {
            catchUp(path);
            final int deletions = deletions();
            final Found found = find(path);
            if (!found.isAt(expectedVersion)) {
                return false;
            }
            try {
                commit(List.of(
                        countingDeletion(deletions),
                        isParent
                                ? curator.transactionOp()
                                        .setData()
                                        .withVersion(found.changes)
                                        .forPath(path, NOTHING)
                                : curator.transactionOp()
                                        .delete()
                                        .withVersion(found.changes)
                                        .forPath(path)));
                return true;
            } catch (KeeperException.NotEmptyException e) {
                LOG.debug("{} stays as a parent", path, e);
                return delete(path, expectedVersion, true);
            } catch (KeeperException.BadVersionException | KeeperException.NoNodeException e) {
                LOG.debug("{} was changed meanwhile, or another node deleted", path, e);
            }
        }
    }

    private CuratorOp countingDeletion(int deletions) throws Exception {
        return curator.transactionOp().setData().withVersion(deletions).forPath(DELETIONS, NOTHING);
    }

    @Override
    public List<String> list(String prefix) {
        final String parent = prefix.equals("/") ? "" : NodePath.require(prefix);
        return listings.call(() -> {
            catchUp(prefix);
            final List<String> names;
            try {
                names = new ArrayList<>(curator.getChildren().forPath(prefix));
            } catch (KeeperException.NoNodeException e) {
                return List.<String>of();
            }
            Collections.sort(names);
            // All at once: a cluster has thousands of caches, or of nodes that an earlier release has left.
            final Map<String, CompletableFuture<@Nullable Stat>> stats = new LinkedHashMap<>();
            for (String name : names) {
                final CompletableFuture<@Nullable Stat> stat = new CompletableFuture<>();
                stats.put(parent + "/" + name, stat);
                final Stat unused = curator.checkExists()
                        .inBackground((client, event) -> complete(stat, event))
                        .forPath(parent + "/" + name);
            }
            final List<String> paths = new ArrayList<>();
            final List<Left> left = new ArrayList<>();
            for (Map.Entry<String, CompletableFuture<@Nullable Stat>> each : stats.entrySet()) {
                final Stat stat = valueOf(each.getValue());
                if (stat != null && stat.getDataLength() > 0) {
                    paths.add(each.getKey());
                } else if (stat != null && isLeft(each.getKey(), stat)) {
                    left.add(new Left(each.getKey(), stat.getVersion()));
                }
            }
            remove(left);
            return List.copyOf(paths);
        });
    }

    /** An empty node, and its count of changes. */
    private record Left(String path, int changes) {}

    /** Whether it is a node that an earlier release deleted. A parent was never changed, or has nodes below it. */
    private static boolean isLeft(String path, Stat stat) {
        return stat.getVersion() > 0 && stat.getNumChildren() == 0 && !path.equals(DELETIONS);
    }

    /** Only what was not changed since. */
    private void remove(List<Left> left) throws Exception {
        for (int first = 0; first < left.size(); first += REMOVED_AT_ONCE) {
            final List<CuratorOp> operations = new ArrayList<>();
            operations.add(countingDeletion(deletions()));
            for (Left each : left.subList(first, Math.min(first + REMOVED_AT_ONCE, left.size()))) {
                operations.add(curator.transactionOp()
                        .delete()
                        .withVersion(each.changes())
                        .forPath(each.path()));
            }
            try {
                commit(operations);
            } catch (KeeperException.BadVersionException
                    | KeeperException.NoNodeException
                    | KeeperException.NotEmptyException e) {
                LOG.debug("a node was changed meanwhile, so these are left to a later listing", e);
            }
        }
    }

    private static void complete(CompletableFuture<@Nullable Stat> stat, CuratorEvent event) {
        final KeeperException.Code code = KeeperException.Code.get(event.getResultCode());
        if (code == KeeperException.Code.OK || code == KeeperException.Code.NONODE) {
            stat.complete(event.getStat());
        } else {
            stat.completeExceptionally(KeeperException.create(code, event.getPath()));
        }
    }

    private @Nullable Stat valueOf(CompletableFuture<@Nullable Stat> stat) throws Exception {
        try {
            return stat.get(mostMs, MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KeeperException failed ? failed : e;
        }
    }

    /** Set again after each reconnection; changes in between are unknown, so a reconnection is a hint too. */
    @Override
    public boolean watch(Consumer<String> changed) {
        final Watcher watcher = event -> changed.accept(event.getPath() == null ? ANY_PATH : event.getPath());
        curator.getConnectionStateListenable().addListener((client, state) -> {
            if (state.isConnected()) {
                setWatch(watcher);
                changed.accept(ANY_PATH);
            }
        });
        setWatch(watcher);
        return true;
    }

    private void setWatch(Watcher watcher) {
        try {
            curator.watchers()
                    .add()
                    .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                    .inBackground()
                    .usingWatcher(watcher)
                    .forPath("/");
        } catch (Exception e) {
            // The caller polls in any case, and the next connection sets it.
            LOG.debug("watch of nodes in {} failed", where, e);
        }
    }

    private static String reason(@Nullable Throwable cause) {
        if (cause instanceof KeeperException.NoAuthException refused) {
            return "it refuses access to " + refused.getPath()
                    + ", which belongs to another credential: check --zookeeper-auth-file";
        }
        return cause instanceof KeeperException keeper ? keeper.code().toString() : String.valueOf(cause);
    }

    /** Ends the connection; a change in progress may or may not be applied. */
    @Override
    public void close() {
        calls.end();
        listings.end();
        curator.close();
    }
}
