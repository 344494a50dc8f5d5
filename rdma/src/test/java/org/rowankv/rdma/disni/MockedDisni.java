package org.rowankv.rdma.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyShort;
import static org.mockito.ArgumentMatchers.isNull;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.mockito.stubbing.Stubber;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsConnection.OneSidedPosting;
import org.rowankv.rdma.verbs.VerbsConnection.ReceivePosting;
import org.rowankv.rdma.verbs.VerbsConnection.SendPosting;
import org.rowankv.rdma.verbs.VerbsException;

/**
 * DiSNI's classes, mocked: what they are told happens on a device of a {@link ModelNetwork}. As the library does, a
 * failed completion has only its identifier and its status; the rest is left from an earlier one.
 */
final class MockedDisni implements ConnectionEventHandler {
    private static final int FD = 7;

    private final ModelVerbs device;
    private final RdmaEventChannel channel = quiet(RdmaEventChannel.class);
    private final IbvContext context = quiet(IbvContext.class);
    private final ArrayDeque<RdmaCmEvent> events = new ArrayDeque<>();
    private final Map<VerbsConnection, RdmaCmId> ids = new HashMap<>();
    private final Map<RdmaCmId, VerbsConnection> connections = new HashMap<>();
    private final Map<Integer, Region> regions = new HashMap<>();
    private RdmaCmId listening;
    private int completions;
    private int lastKey;
    private long nextAddress = 0x7000_0000L;
    private int prepared;

    private record Region(long address, RegisteredMemory memory) {}

    MockedDisni(ModelNetwork network) throws IOException {
        this.device = new ModelVerbs(network);
        when(channel.createId(anyShort())).thenAnswer(call -> newId());
        when(channel.getCmEvent(0)).thenAnswer(call -> {
            if (events.isEmpty()) {
                device.pollEvents(this);
            }
            return events.poll();
        });
        when(channel.destroyEventChannel()).thenAnswer(call -> {
            device.close();
            return 0;
        });
        when(context.getCmd_fd()).thenReturn(FD);
        final IbvPd domain = quiet(IbvPd.class);
        when(context.allocPd()).thenReturn(domain);
        when(domain.regMr(any(ByteBuffer.class), anyInt())).thenAnswer(call -> {
            final boolean isExposed = (call.<Integer>getArgument(1) & IbvMr.IBV_ACCESS_REMOTE_WRITE) != 0;
            return register(call.getArgument(0), isExposed);
        });
        final IbvCompChannel notifications = quiet(IbvCompChannel.class);
        when(context.createCompChannel()).thenReturn(notifications);
        when(context.createCQ(any(), anyInt(), anyInt())).thenAnswer(call -> {
            completions = call.getArgument(1);
            return queue();
        });
    }

    private static <T> T quiet(Class<T> type) {
        return mock(type, withSettings().stubOnly());
    }

    RdmaEventChannel channel() {
        return channel;
    }

    /** Calls that were built: each is executed often. */
    int prepared() {
        return prepared;
    }

    private SVCRegMr register(ByteBuffer memory, boolean isExposed) throws IOException {
        final SVCRegMr call = quiet(SVCRegMr.class);
        final IbvMr region = quiet(IbvMr.class);
        final RegisteredMemory registered;
        try {
            registered = isExposed ? device.expose(memory) : device.register(memory);
        } catch (VerbsException e) {
            throw new IOException(e.getMessage(), e); // which is all that DiSNI knows
        }
        final int key = ++lastKey;
        final ExposedMemory exposed = isExposed ? (ExposedMemory) registered : null;
        final long address = exposed == null ? nextAddress : exposed.address();
        nextAddress += memory.capacity() + 4096L;
        regions.put(key, new Region(address, registered));
        when(region.getAddr()).thenReturn(address);
        when(region.getLkey()).thenReturn(key);
        when(region.getRkey()).thenReturn(exposed == null ? 0 : exposed.remoteKey());
        final SVCDeregMr end = quiet(SVCDeregMr.class);
        when(end.execute()).thenReturn(end);
        when(region.deregMr()).thenReturn(end);
        when(call.execute()).thenReturn(call);
        when(call.getMr()).thenReturn(region);
        return call;
    }

    private IbvCQ queue() throws IOException {
        final IbvCQ queue = quiet(IbvCQ.class);
        when(queue.poll(any(), anyInt())).thenAnswer(created -> {
            final IbvWC[] found = created.getArgument(0);
            final SVCPollCq call = quiet(SVCPollCq.class);
            final int[] count = new int[1];
            when(call.execute()).thenAnswer(executed -> {
                count[0] = 0;
                device.pollWork((id, status, length) -> {
                    final IbvWC each = found[count[0]++];
                    each.setWr_id(id);
                    each.setStatus(status);
                    if (status == 0) {
                        each.setByte_len(length);
                    }
                });
                return call;
            });
            when(call.getPolls()).thenAnswer(polled -> count[0]);
            return call;
        });
        return queue;
    }

    private RdmaCmId newId() throws IOException {
        final RdmaCmId id = quiet(RdmaCmId.class);
        final InetSocketAddress[] address = new InetSocketAddress[1];
        when(id.getVerbs()).thenReturn(context);
        doAnswer(call -> {
                    address[0] = call.getArgument(0);
                    return null;
                })
                .when(id)
                .bindAddr(any());
        doAnswer(call -> {
                    listening = id;
                    address[0] = device.listen(address[0], call.getArgument(0), completions);
                    return null;
                })
                .when(id)
                .listen(anyInt());
        when(id.getSource()).thenAnswer(call -> address[0]);
        doAnswer(call -> {
                    address[0] = call.getArgument(1);
                    events.add(event(EventType.RDMA_CM_EVENT_ADDR_RESOLVED, id));
                    return null;
                })
                .when(id)
                .resolveAddr(isNull(), any(), anyInt());
        doAnswer(call -> {
                    enter(id, device.connect(address[0], call.getArgument(0)));
                    return null;
                })
                .when(id)
                .resolveRoute(anyInt());
        when(id.createQP(any(), any())).thenAnswer(call -> createPair(id, call.getArgument(1)));
        doAnswer(call -> open(id, call.getArgument(0))).when(id).connect(any());
        doAnswer(call -> open(id, call.getArgument(0))).when(id).accept(any());
        when(id.destroyQP()).thenAnswer(call -> {
            connections.get(id).destroy();
            return 0;
        });
        when(id.destroyId()).thenAnswer(call -> {
            final VerbsConnection connection = connections.remove(id);
            if (connection != null) {
                connection.destroy();
                ids.remove(connection);
            }
            return 0;
        });
        return id;
    }

    private void enter(RdmaCmId id, VerbsConnection connection) {
        ids.put(connection, id);
        connections.put(id, connection);
    }

    private IbvQP createPair(RdmaCmId id, IbvQPInitAttr attributes) throws IOException {
        assertThat(attributes.getQp_type()).isEqualTo(IbvQP.IBV_QPT_RC);
        assertThat(attributes.getSend_cq()).isSameAs(attributes.getRecv_cq());
        final VerbsConnection connection = connections.get(id);
        connection.createQueuePair(
                attributes.cap().getMax_send_wr(), attributes.cap().getMax_recv_wr());
        final IbvQP pair = quiet(IbvQP.class);
        when(pair.postSend(any(), isNull()))
                .thenAnswer(call -> prepareSend(connection, call.<List<IbvSendWR>>getArgument(0)));
        when(pair.postRecv(any(), isNull()))
                .thenAnswer(call -> prepareReceive(connection, call.<List<IbvRecvWR>>getArgument(0)));
        return pair;
    }

    private SVCPostSend prepareSend(VerbsConnection connection, List<IbvSendWR> requests) throws IOException {
        prepared++;
        if (requests.get(0).getOpcode() == IbvSendWR.IBV_WR_RDMA_WRITE) {
            return prepareOneSided(connection, requests);
        }
        assertThat(requests).hasSize(1);
        final IbvSendWR request = requests.get(0);
        assertThat(request.getOpcode()).isEqualTo(IbvSendWR.IBV_WR_SEND);
        assertThat(request.getSend_flags()).isEqualTo(IbvSendWR.IBV_SEND_SIGNALED);
        assertThat(request.getNum_sge()).isEqualTo(1);
        final IbvSge part = request.getSg_list().get(0);
        final Region region = regions.get(part.getLkey());
        final SendPosting posting =
                connection.prepareSend(region.memory, (int) (part.getAddr() - region.address), request.getWr_id());
        final SVCPostSend call = quiet(SVCPostSend.class);
        final SVCPostSend.SendWRMod mod = quiet(SVCPostSend.SendWRMod.class);
        final SVCPostSend.SgeMod bytes = quiet(SVCPostSend.SgeMod.class);
        final int[] length = new int[1];
        when(call.getWrMod(0)).thenReturn(mod);
        when(mod.getSgeMod(0)).thenReturn(bytes);
        doAnswer(set -> {
                    length[0] = set.getArgument(0);
                    return null;
                })
                .when(bytes)
                .setLength(anyInt());
        when(call.execute()).thenAnswer(executed -> {
            posting.post(length[0]);
            return call;
        });
        return call;
    }

    /** WRITEs without completions, and a READ with one behind them. */
    private SVCPostSend prepareOneSided(VerbsConnection connection, List<IbvSendWR> requests) throws IOException {
        final int writes = requests.size() - 1;
        final IbvSendWR read = requests.get(writes);
        assertThat(read.getOpcode()).isEqualTo(IbvSendWR.IBV_WR_RDMA_READ);
        assertThat(read.getSend_flags()).isEqualTo(IbvSendWR.IBV_SEND_SIGNALED);
        assertThat(read.getSge(0).getLength()).isEqualTo(1);
        final Region target = regions.get(read.getSge(0).getLkey());
        final Region source = regions.get(requests.get(0).getSge(0).getLkey());
        final OneSidedPosting posting = connection.prepareOneSided(
                source.memory,
                writes,
                target.memory,
                (int) (read.getSge(0).getAddr() - target.address),
                read.getWr_id());
        final SVCPostSend call = quiet(SVCPostSend.class);
        final long[] values = new long[4 * requests.size()];
        for (int i = 0; i < requests.size(); i++) {
            if (i < writes) {
                assertThat(requests.get(i).getOpcode()).isEqualTo(IbvSendWR.IBV_WR_RDMA_WRITE);
                assertThat(requests.get(i).getSend_flags()).isZero();
            }
            final SVCPostSend.SendWRMod mod = quiet(SVCPostSend.SendWRMod.class);
            when(call.getWrMod(i)).thenReturn(mod);
            final SVCPostSend.SgeMod part = quiet(SVCPostSend.SgeMod.class);
            when(mod.getSgeMod(0)).thenReturn(part);
            final SVCPostSend.RdmaMod remote = quiet(SVCPostSend.RdmaMod.class);
            when(mod.getRdmaMod()).thenReturn(remote);
            final int at = 4 * i;
            keep(values, at).when(part).setAddr(anyLong());
            keep(values, at + 1).when(part).setLength(anyInt());
            keep(values, at + 2).when(remote).setRemote_addr(anyLong());
            keep(values, at + 3).when(remote).setRkey(anyInt());
        }
        when(call.execute()).thenAnswer(executed -> {
            for (int i = 0; i < writes; i++) {
                final int offset = (int) (values[4 * i] - source.address);
                posting.write(i, offset, (int) values[4 * i + 1], values[4 * i + 2], (int) values[4 * i + 3]);
            }
            posting.read(values[4 * writes + 2], (int) values[4 * writes + 3]);
            posting.post();
            return call;
        });
        return call;
    }

    private static Stubber keep(long[] values, int at) {
        return doAnswer(set -> {
            values[at] = set.<Number>getArgument(0).longValue();
            return null;
        });
    }

    private SVCPostRecv prepareReceive(VerbsConnection connection, List<IbvRecvWR> requests) throws IOException {
        prepared++;
        assertThat(requests).hasSize(1);
        final IbvRecvWR request = requests.get(0);
        assertThat(request.getNum_sge()).isEqualTo(1);
        final IbvSge part = request.getSg_list().get(0);
        final Region region = regions.get(part.getLkey());
        final ReceivePosting posting = connection.prepareReceive(
                region.memory, (int) (part.getAddr() - region.address), part.getLength(), request.getWr_id());
        final SVCPostRecv call = quiet(SVCPostRecv.class);
        when(call.execute()).thenAnswer(executed -> {
            posting.post();
            return call;
        });
        return call;
    }

    private Object open(RdmaCmId id, RdmaConnParam parameters) throws IOException {
        assertThat(parameters.getRetry_count()).isEqualTo((byte) 7);
        assertThat(parameters.getRnr_retry_count()).isEqualTo((byte) 7);
        connections.get(id).open();
        return null;
    }

    private RdmaCmEvent event(EventType type, RdmaCmId id) {
        final RdmaCmEvent event = quiet(RdmaCmEvent.class);
        when(event.getEvent()).thenReturn(type.ordinal());
        when(event.getConnIdPriv()).thenReturn(id);
        when(event.getListenIdPriv()).thenReturn(listening);
        return event;
    }

    private void event(EventType type, VerbsConnection connection) {
        final RdmaCmId id = ids.get(connection);
        if (id != null) {
            events.add(event(type, id));
        }
    }

    // --- the device's events ---

    @Override
    public void onRequest(VerbsConnection connection) {
        try {
            final RdmaCmId id = newId();
            enter(id, connection);
            events.add(event(EventType.RDMA_CM_EVENT_CONNECT_REQUEST, id));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void onResolved(VerbsConnection connection) {
        event(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED, connection);
    }

    @Override
    public void onEstablished(VerbsConnection connection) {
        event(EventType.RDMA_CM_EVENT_ESTABLISHED, connection);
    }

    @Override
    public void onFailed(VerbsConnection connection, String why) {
        event(EventType.RDMA_CM_EVENT_REJECTED, connection);
    }

    @Override
    public void onDisconnected(VerbsConnection connection) {
        event(EventType.RDMA_CM_EVENT_DISCONNECTED, connection);
    }
}
