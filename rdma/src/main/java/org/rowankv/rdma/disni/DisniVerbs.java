package org.rowankv.rdma.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The verbs by DiSNI. Its stateful calls are built once for each posting, and executed: that allocates nothing. It has
 * no shared receive queue and selects the device by the address only. Its events carry neither a status nor private
 * data, and connecting has no bound on its time: the caller bounds it.
 */
public final class DisniVerbs implements Verbs {
    private static final Logger LOG = LoggerFactory.getLogger(DisniVerbs.class);
    private static final int POLLED_AT_ONCE = 64;

    private final RdmaEventChannel events;
    private final Map<RdmaCmId, DisniVerbsConnection> connections = new HashMap<>();
    private final List<IbvMr> registered = new ArrayList<>();
    private final IbvWC[] found = new IbvWC[POLLED_AT_ONCE];
    private @Nullable RdmaCmId listening;
    private @Nullable Device device;

    record Device(IbvContext context, IbvPd domain, IbvCompChannel notifications, IbvCQ queue, SVCPollCq poll) {}

    record Registered(IbvMr region, int length) implements ExposedMemory {
        @Override
        public long address() {
            return region.getAddr();
        }

        @Override
        public int remoteKey() {
            return region.getRkey();
        }
    }

    /** @param events of a process that may use RDMA */
    DisniVerbs(RdmaEventChannel events) {
        this.events = events;
        for (int i = 0; i < found.length; i++) {
            found[i] = new IbvWC();
        }
    }

    static DisniVerbs open() throws VerbsException {
        final RdmaEventChannel events;
        try {
            events = RdmaEventChannel.createEventChannel();
        } catch (IOException e) {
            throw new VerbsException(
                    "DiSNI cannot be used: " + e.getMessage()
                            + ". Its library must be of the jar's version, 2.1, and the kernel must offer"
                            + " /dev/infiniband/rdma_cm to this user (module rdma_ucm); or start with --fabric tcp",
                    e);
        }
        if (events == null) {
            throw new VerbsException(
                    "the kernel offers no RDMA connections: load the module rdma_ucm, and let this user"
                            + " read and write /dev/infiniband/rdma_cm; or start with --fabric tcp");
        }
        return new DisniVerbs(events);
    }

    @Override
    public InetSocketAddress listen(InetSocketAddress address, int backlog, int completions) throws VerbsException {
        if (!(address.getAddress() instanceof Inet4Address ipv4) || ipv4.isAnyLocalAddress()) {
            throw new VerbsException(address + " does not select a device: --rdma-listen needs the IPv4 address of an"
                    + " RDMA interface (rdma link)");
        }
        final RdmaCmId id;
        final IbvContext context;
        try {
            id = events.createId(RdmaCm.RDMA_PS_TCP);
            listening = id;
            id.bindAddr(address);
            context = id.getVerbs();
        } catch (IOException e) {
            throw noDevice(address, e);
        }
        if (context == null) {
            throw noDevice(address, null);
        }
        try {
            final IbvPd domain = context.allocPd();
            final IbvCompChannel notifications = context.createCompChannel();
            final IbvCQ queue = context.createCQ(notifications, completions, 0);
            device = new Device(context, domain, notifications, queue, queue.poll(found, found.length));
            id.listen(backlog);
            return id.getSource() instanceof InetSocketAddress bound && bound.getPort() != 0 ? bound : address;
        } catch (IOException e) {
            throw new VerbsException(
                    "the RDMA device of " + address + " refuses " + completions + " completions or to listen: "
                            + e.getMessage(),
                    e);
        }
    }

    private static VerbsException noDevice(InetSocketAddress address, @Nullable IOException e) {
        return new VerbsException(
                "no RDMA device has the address " + address.getAddress().getHostAddress()
                        + ": --rdma-listen needs the address of an interface that rdma link shows"
                        + (e == null ? "" : " (" + e.getMessage() + ")"),
                e);
    }

    Device device() throws VerbsException {
        final Device present = device;
        if (present == null) {
            throw new VerbsException("the device is not open");
        }
        return present;
    }

    @Override
    public RegisteredMemory register(ByteBuffer memory) throws VerbsException {
        return register(memory, IbvMr.IBV_ACCESS_LOCAL_WRITE);
    }

    @Override
    public ExposedMemory expose(ByteBuffer memory) throws VerbsException {
        // Without relaxed ordering: a WRITE must not be found before those in front of it.
        return register(
                memory, IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ);
    }

    private Registered register(ByteBuffer memory, int access) throws VerbsException {
        final int length = memory.capacity();
        try {
            final SVCRegMr call = device().domain.regMr(memory, access);
            final IbvMr region = call.execute().getMr();
            call.free();
            registered.add(region);
            return new Registered(region, length);
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            throw new VerbsException(
                    length + " bytes cannot be registered with the RDMA device: raise the limit of locked memory"
                            + " (ulimit -l) of this user, or open fewer connections; of files, only those of memory (tmpfs)"
                            + " can be registered everywhere (" + e.getMessage() + ")",
                    e);
        }
    }

    @Override
    public VerbsConnection connect(InetSocketAddress remote, int timeoutMs) throws VerbsException {
        device();
        if (!(remote.getAddress() instanceof Inet4Address)) {
            throw new VerbsException(remote + " is no IPv4 address");
        }
        try {
            final RdmaCmId id = events.createId(RdmaCm.RDMA_PS_TCP);
            final DisniVerbsConnection connection = new DisniVerbsConnection(this, id, remote, timeoutMs, false);
            connections.put(id, connection);
            id.resolveAddr(null, remote, timeoutMs);
            return connection;
        } catch (IOException e) {
            throw new VerbsException("no way to " + remote + " by RDMA: " + e.getMessage(), e);
        }
    }

    @Override
    public int pollWork(WorkHandler handler) throws VerbsException {
        final Device present = device;
        if (present == null) {
            return 0;
        }
        final int count;
        try {
            count = present.poll.execute().getPolls();
        } catch (IOException e) {
            throw new VerbsException("its completions cannot be polled: " + e.getMessage(), e);
        }
        for (int i = 0; i < count; i++) {
            // An error has only these two; the rest is of an earlier completion.
            final int status = found[i].getStatus();
            handler.onWork(found[i].getWr_id(), status, status == 0 ? found[i].getByte_len() : 0);
        }
        return count;
    }

    @Override
    public int pollEvents(ConnectionEventHandler handler) throws VerbsException {
        int count = 0;
        try {
            for (RdmaCmEvent event = events.getCmEvent(0); event != null; event = events.getCmEvent(0)) {
                event.ackEvent();
                onEvent(event, handler);
                count++;
            }
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            throw new VerbsException("the events of connections cannot be read: " + e.getMessage(), e);
        }
        return count;
    }

    private void onEvent(RdmaCmEvent event, ConnectionEventHandler handler) throws VerbsException {
        final RdmaCmEvent.EventType type = RdmaCmEvent.EventType.values()[event.getEvent()];
        final RdmaCmId id = event.getConnIdPriv();
        if (type == RdmaCmEvent.EventType.RDMA_CM_EVENT_DEVICE_REMOVAL) {
            throw new VerbsException("the device was removed");
        }
        if (type == RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST) {
            final DisniVerbsConnection requested = new DisniVerbsConnection(this, id, remoteOf(id), 0, true);
            connections.put(id, requested);
            handler.onRequest(requested);
            return;
        }
        final DisniVerbsConnection connection = connections.get(id);
        if (connection == null) {
            return; // of the listener, or of a destroyed connection
        }
        switch (type) {
            case RDMA_CM_EVENT_ADDR_RESOLVED -> connection.resolveRoute(handler);
            case RDMA_CM_EVENT_ROUTE_RESOLVED -> connection.resolved(handler);
            case RDMA_CM_EVENT_ESTABLISHED -> handler.onEstablished(connection);
            case RDMA_CM_EVENT_DISCONNECTED -> handler.onDisconnected(connection);
            case RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR ->
                handler.onFailed(connection, "no way to it by RDMA");
            case RDMA_CM_EVENT_REJECTED -> handler.onFailed(connection, "it refuses: no server listens there by RDMA");
            case RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_CONNECT_ERROR ->
                handler.onFailed(connection, "it does not answer by RDMA");
            default -> {
                // A response that becomes ESTABLISHED, the end of a wait, or multicast.
            }
        }
    }

    void forget(RdmaCmId id) {
        connections.remove(id);
    }

    private static InetSocketAddress remoteOf(RdmaCmId id) {
        try {
            if (id.getDestination() instanceof InetSocketAddress address) {
                return address;
            }
        } catch (IOException e) {
            // It is for logs only.
        }
        return InetSocketAddress.createUnresolved("unknown", 0);
    }

    @Override
    public void close() {
        List.copyOf(connections.values()).forEach(DisniVerbsConnection::destroy);
        final Device present = device;
        final RdmaCmId listener = listening;
        device = null;
        listening = null;
        quietly(() -> {
            if (listener != null) {
                listener.destroyId();
            }
        });
        for (final IbvMr region : registered) {
            quietly(() -> region.deregMr().execute().free());
        }
        registered.clear();
        if (present != null) {
            present.poll.free();
            quietly(present.queue::destroyCQ);
            quietly(present.notifications::destroyCompChannel);
            quietly(present.domain::deallocPd);
        }
        quietly(events::destroyEventChannel);
    }

    /** A step of the release of resources; the next ones are taken whatever comes of it. */
    interface Release {
        void run() throws Exception;
    }

    static void quietly(Release step) {
        try {
            step.run();
        } catch (Exception e) {
            LOG.debug("A resource of the RDMA device was not released", e);
        }
    }
}
