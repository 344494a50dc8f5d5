package org.rowankv.daemon.zookeeper;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
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
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.NodeDescriptor;
import org.rowankv.server.configstore.NodePath;
import org.rowankv.server.configstore.NodeVersion;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configuration store of a cluster, in ZooKeeper, below {@code /rowan/CLUSTER}.
 *
 * <p>A deleted node stays in ZooKeeper, empty: so its version continues and is never reused. Empty nodes count as
 * absent; parents are created empty.
 *
 * <p>Nothing is retried here: a change with a lost connection may have been applied, and a retry would meet its own
 * first attempt. The caller reads back and compares the stamp. Reads sync first: they return the last committed state,
 * not a stale one.
 *
 * <p>Thread-safe; an interrupt of the caller does not end a call. No ephemeral nodes, no dependence on sessions.
 */
public final class ZooKeeperConfigurationStore implements ConfigurationStore {
    private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperConfigurationStore.class);
    private static final String ROOT = "rowan";
    private static final int SESSION_TIMEOUT_MS = 10_000;
    private static final byte[] NOTHING = {};

    private final String where;
    private final CuratorFramework curator;
    /** A request has failed by then. */
    private final long mostMs;

    private final ExecutorService calls;
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
        final CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .namespace(ROOT + "/" + cluster)
                .sessionTimeoutMs(Math.max(SESSION_TIMEOUT_MS, connectionTimeoutMs))
                .connectionTimeoutMs(connectionTimeoutMs)
                .retryPolicy((count, elapsedMs, sleeper) -> false)
                .dontUseContainerParents();
        if (auth != null) {
            builder.authorization(auth.scheme(), auth.bytes()).aclProvider(new CreatorOnly());
        }
        this.curator = builder.build();
        this.unprotectedNodes = auth == null ? null : new UnprotectedNodes(curator, where);
        this.calls = Executors.newSingleThreadExecutor(work -> {
            final Thread thread = new Thread(work, "rowan-zookeeper");
            thread.setDaemon(true);
            return thread;
        });
        curator.start();
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
        return call(() -> find(path)).node;
    }

    /** A node, and its version in ZooKeeper: −1 if there is no node, not even an empty one. */
    private record Found(@Nullable VersionedNode node, int version) {}

    private Found find(String path) throws Exception {
        curator.sync().forPath(path);
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
        return new Found(new VersionedNode(node.bytes(), stat.getVersion(), node.stamp()), stat.getVersion());
    }

    @Override
    public boolean compareAndSet(
            String path, long expectedVersion, byte[] bytes, Stamp stamp, @Nullable NodeVersion condition) {
        NodePath.require(path);
        if (bytes.length > MAX_NODE_LENGTH) {
            throw new IllegalArgumentException(
                    "node " + path + " of " + bytes.length + " bytes is longer than " + MAX_NODE_LENGTH);
        }
        final byte[] node = NodeDescriptor.encode(path, new VersionedNode(bytes.clone(), 0, stamp));
        return call(() -> change(path, expectedVersion, node, condition));
    }

    @Override
    public boolean delete(String path, long expectedVersion) {
        NodePath.require(path);
        return expectedVersion != ABSENT && call(() -> change(path, expectedVersion, NOTHING, null));
    }

    private boolean change(String path, long expectedVersion, byte[] bytes, @Nullable NodeVersion condition)
            throws Exception {
        int version = (int) expectedVersion;
        if (expectedVersion == ABSENT) {
            final Found found = find(path);
            if (found.node != null) {
                return false;
            }
            version = found.version;
        } else if (expectedVersion < 0 || expectedVersion > Integer.MAX_VALUE) {
            return false;
        } else if (bytes.length == 0 && find(path).node == null) {
            return false; // an absent node cannot be deleted
        }
        try {
            if (condition != null) {
                return changeOnCondition(path, version, bytes, condition);
            }
            if (version < 0) {
                final String unused = curator.create().creatingParentsIfNeeded().forPath(path, bytes);
            } else {
                final Stat unused = curator.setData().withVersion(version).forPath(path, bytes);
            }
            return true;
        } catch (KeeperException.BadVersionException
                | KeeperException.NoNodeException
                | KeeperException.NodeExistsException e) {
            return false;
        }
    }

    /** The check and the change are one transaction of ZooKeeper. */
    private boolean changeOnCondition(String path, int version, byte[] bytes, NodeVersion condition) throws Exception {
        if (condition.version() == ABSENT || condition.version() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a condition needs a node that was read: " + condition);
        }
        final CuratorOp check = curator.transactionOp()
                .check()
                .withVersion((int) condition.version())
                .forPath(condition.path());
        final CuratorOp change = version < 0
                ? curator.transactionOp().create().forPath(path, bytes)
                : curator.transactionOp().setData().withVersion(version).forPath(path, bytes);
        final List<CuratorTransactionResult> unused = curator.transaction().forOperations(check, change);
        return true;
    }

    @Override
    public List<String> list(String prefix) {
        final String parent = prefix.equals("/") ? "" : NodePath.require(prefix);
        return call(() -> {
            curator.sync().forPath(prefix);
            final List<String> names;
            try {
                names = new ArrayList<>(curator.getChildren().forPath(prefix));
            } catch (KeeperException.NoNodeException e) {
                return List.<String>of();
            }
            Collections.sort(names);
            // All at once: deleted nodes stay, so a cluster has thousands after a year, and its manager waits for this.
            final Map<String, CompletableFuture<Integer>> lengths = new LinkedHashMap<>();
            for (String name : names) {
                final CompletableFuture<Integer> length = new CompletableFuture<>();
                lengths.put(parent + "/" + name, length);
                final Stat unused = curator.checkExists()
                        .inBackground((client, event) -> complete(length, event))
                        .forPath(parent + "/" + name);
            }
            final List<String> paths = new ArrayList<>();
            for (Map.Entry<String, CompletableFuture<Integer>> each : lengths.entrySet()) {
                if (lengthOf(each.getValue()) > 0) {
                    paths.add(each.getKey());
                }
            }
            return List.copyOf(paths);
        });
    }

    private static void complete(CompletableFuture<Integer> length, CuratorEvent event) {
        final KeeperException.Code code = KeeperException.Code.get(event.getResultCode());
        final Stat stat = event.getStat();
        if (code == KeeperException.Code.OK && stat != null) {
            length.complete(stat.getDataLength());
        } else if (code == KeeperException.Code.NONODE) {
            length.complete(0);
        } else {
            length.completeExceptionally(KeeperException.create(code, event.getPath()));
        }
    }

    private int lengthOf(CompletableFuture<Integer> length) throws Exception {
        try {
            return length.get(mostMs, MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KeeperException failed ? failed : e;
        }
    }

    /** Set again after each reconnection; changes in between are unknown, so a reconnection is a hint too. */
    @Override
    public boolean watch(Runnable changed) {
        final Watcher watcher = event -> changed.run();
        curator.getConnectionStateListenable().addListener((client, state) -> {
            if (state.isConnected()) {
                setWatch(watcher);
                changed.run();
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

    private <T> T call(Callable<T> work) {
        boolean interrupted = false;
        try {
            final Future<T> result = calls.submit(work);
            while (true) {
                try {
                    return result.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (RejectedExecutionException e) {
            throw new ConfigurationStoreException("the connection with " + where + " is closed", e);
        } catch (ExecutionException e) {
            final Throwable cause = e.getCause();
            throw cause instanceof ConfigurationStoreException known
                    ? known
                    : new ConfigurationStoreException(where + " does not answer: " + reason(cause), cause);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
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
        calls.shutdown();
        curator.close();
    }
}
