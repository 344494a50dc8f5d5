package org.rowankv.check.disturb;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * The network of a cluster as proxies, whose directed links can be cut: bytes that are sent over a cut link wait until it
 * heals, as if their packets were lost and sent again; no connection is made over one. Thread-safe.
 */
public final class CutNetwork implements AutoCloseable {
    private record Link(NetworkNode from, NetworkNode to) {}

    private final IntFunction<Optional<ProcessHandle>> servers;
    private final int serverCount;
    private final List<CuttingProxy> proxies = new ArrayList<>();
    private final Set<Link> cut = new HashSet<>();
    private volatile long reader;

    /** @param servers the running process of each server, by which it knows where a connection comes from */
    public CutNetwork(int serverCount, IntFunction<Optional<ProcessHandle>> servers) {
        this.serverCount = serverCount;
        this.servers = servers;
    }

    /** Whether this system can tell connections of different servers apart. */
    public static boolean isSupported() {
        return ConnectingProcess.isKnown();
    }

    /** A proxy in front of a node. */
    public CuttingProxy proxy(NetworkNode to) throws IOException {
        final CuttingProxy proxy = new CuttingProxy(this, to);
        synchronized (this) {
            proxies.add(proxy);
        }
        return proxy;
    }

    /** Connections of this process come from {@link NetworkNode#READER} from now on. */
    public void reader(long pid) {
        reader = pid;
    }

    /** Where a connection to a proxy comes from. */
    NetworkNode origin(InetSocketAddress remote, int proxyPort) {
        for (int server = 0; server < serverCount; server++) {
            final Optional<ProcessHandle> process = servers.apply(server);
            if (process.isPresent() && ConnectingProcess.holds(process.get().pid(), remote.getPort(), proxyPort)) {
                return NetworkNode.server(server);
            }
        }
        final long pid = reader;
        return pid > 0 && ConnectingProcess.holds(pid, remote.getPort(), proxyPort)
                ? NetworkNode.READER
                : NetworkNode.CLIENT;
    }

    /** Cuts one direction. */
    public synchronized void cut(NetworkNode from, NetworkNode to) {
        cut.add(new Link(from, to));
    }

    /** Heals all links. */
    public synchronized void heal() {
        cut.clear();
        notifyAll();
    }

    /** Waits until the link is whole. */
    synchronized void awaitOpen(NetworkNode from, NetworkNode to) throws InterruptedException {
        final Link link = new Link(from, to);
        while (cut.contains(link)) {
            wait();
        }
    }

    @Override
    public void close() {
        heal();
        final List<CuttingProxy> all;
        synchronized (this) {
            all = List.copyOf(proxies);
        }
        all.forEach(CuttingProxy::close);
    }
}
