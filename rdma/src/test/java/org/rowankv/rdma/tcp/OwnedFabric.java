package org.rowankv.rdma.tcp;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.landing.LandingFabric;

/** The TCP fabric with queue pairs on a worker's poller, driven by their callers or by a background thread. */
final class OwnedFabric implements Fabric {
    private final LandingFabric fabric;
    private final TcpIoPoller io = new TcpIoPoller();
    private final Thread background;
    private volatile boolean ending;

    private OwnedFabric(LandingFabric fabric, boolean inBackground) {
        this.fabric = fabric;
        if (inBackground) {
            this.background = io.newThread("owner", this::pollToTheEnd);
            background.start();
        } else {
            this.background = Thread.currentThread();
            io.own();
        }
    }

    static OwnedFabric turnedByCallers(LandingFabric fabric) {
        return new OwnedFabric(fabric, false);
    }

    static OwnedFabric turnedInBackground(LandingFabric fabric) {
        return new OwnedFabric(fabric, true);
    }

    private void pollToTheEnd() {
        while (!ending) {
            io.await(Long.MAX_VALUE);
            io.poll();
        }
        io.close();
    }

    private boolean isCallers() {
        return Thread.currentThread() == background;
    }

    private void poll() {
        if (isCallers()) {
            io.poll();
        }
    }

    @Override
    public FabricCapabilities capabilities() {
        return fabric.capabilities();
    }

    @Override
    public Endpoint open(EndpointSettings settings) {
        return new OwnedEndpoint(fabric.open(settings));
    }

    @Override
    public void close() {
        if (isCallers()) {
            io.close();
            fabric.close();
        } else {
            fabric.close();
            ending = true;
            io.wakeUp();
            try {
                background.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private QueuePair polling(QueuePair pair) {
        return (QueuePair) Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(), new Class<?>[] {QueuePair.class}, (proxy, method, arguments) -> {
                    poll();
                    try {
                        return method.invoke(pair, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        poll();
                    }
                });
    }

    private final class OwnedEndpoint implements Endpoint {
        private final Endpoint endpoint;

        OwnedEndpoint(Endpoint endpoint) {
            this.endpoint = endpoint;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            return endpoint.receiveQueue();
        }

        @Override
        public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
            final CompletableFuture<QueuePair> opening =
                    endpoint.connectAsync(remoteServerId, remoteIncarnation, term, io);
            while (!opening.isDone()) {
                poll();
            }
            try {
                return polling(opening.join());
            } catch (CompletionException e) {
                if (e.getCause() instanceof FabricException refusal) {
                    throw refusal;
                }
                throw e;
            }
        }

        @Override
        public int message(int remoteServerId, ByteBuffer message) {
            return endpoint.message(remoteServerId, message);
        }

        @Override
        public int pollMessages(int limit) {
            return endpoint.pollMessages(limit);
        }

        @Override
        public void close() {
            endpoint.close();
        }
    }
}
