package org.rowankv.rdma.disni;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;

/** A connection, by DiSNI's identifier. */
final class DisniVerbsConnection implements VerbsConnection {
    /** Repeats of a SEND without an answer, and without end of one without a receive. DiSNI's default is none. */
    private static final byte RETRIES = 7;

    private final DisniVerbs verbs;
    private final RdmaCmId id;
    private final InetSocketAddress remote;
    private final int timeoutMs;
    private final boolean isRequest;
    private final List<SVCPostSend> sends = new ArrayList<>();
    private final List<SVCPostRecv> receives = new ArrayList<>();
    private @Nullable IbvQP pair;
    private boolean destroyed;

    DisniVerbsConnection(DisniVerbs verbs, RdmaCmId id, InetSocketAddress remote, int timeoutMs, boolean isRequest) {
        this.verbs = verbs;
        this.id = id;
        this.remote = remote;
        this.timeoutMs = timeoutMs;
        this.isRequest = isRequest;
    }

    void resolveRoute(ConnectionEventHandler handler) {
        try {
            id.resolveRoute(timeoutMs);
        } catch (IOException e) {
            handler.onFailed(this, "no route to it by RDMA: " + e.getMessage());
        }
    }

    void resolved(ConnectionEventHandler handler) throws VerbsException {
        try {
            final IbvContext there = id.getVerbs();
            if (there.getCmd_fd() != verbs.device().context().getCmd_fd()) {
                handler.onFailed(this, "another RDMA device than that of --rdma-listen leads to it");
                return;
            }
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            handler.onFailed(this, "no RDMA device leads to it: " + e.getMessage());
            return;
        }
        handler.onResolved(this);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public void createQueuePair(int sendCount, int receiveCount) throws VerbsException {
        final DisniVerbs.Device present = verbs.device();
        final IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.cap().setMax_send_wr(sendCount);
        attributes.cap().setMax_recv_wr(receiveCount);
        attributes.cap().setMax_send_sge(1);
        attributes.cap().setMax_recv_sge(1);
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(present.queue());
        attributes.setRecv_cq(present.queue());
        try {
            pair = id.createQP(present.domain(), attributes);
        } catch (IOException e) {
            throw new VerbsException("the RDMA device creates no further queue pair: " + e.getMessage(), e);
        }
    }

    private IbvQP pair() throws VerbsException {
        final IbvQP present = pair;
        if (present == null) {
            throw new VerbsException("it has no queue pair");
        }
        return present;
    }

    private IbvSge part(RegisteredMemory memory, int offset, int length) {
        final IbvMr region = ((DisniVerbs.Registered) memory).region();
        final IbvSge part = new IbvSge();
        part.setAddr(region.getAddr() + offset);
        part.setLength(length);
        part.setLkey(region.getLkey());
        return part;
    }

    @Override
    public SendPosting prepareSend(RegisteredMemory memory, int offset, long workId) throws VerbsException {
        final IbvSendWR request = new IbvSendWR();
        request.setWr_id(workId);
        request.setOpcode(IbvSendWR.IBV_WR_SEND);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.setSg_list(new LinkedList<>(List.of(part(memory, offset, 0))));
        request.setNum_sge(1);
        try {
            final SVCPostSend call = pair().postSend(List.of(request), null);
            final SVCPostSend.SgeMod bytes = call.getWrMod(0).getSgeMod(0);
            sends.add(call);
            return length -> {
                bytes.setLength(length);
                execute(call);
            };
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            throw new VerbsException("a SEND cannot be prepared: " + e.getMessage(), e);
        }
    }

    private void execute(SVCPostSend call) throws VerbsException {
        try {
            call.execute();
        } catch (IOException e) {
            throw new VerbsException("a SEND cannot be posted: " + e.getMessage(), e);
        }
    }

    @Override
    public ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long workId)
            throws VerbsException {
        final IbvRecvWR request = new IbvRecvWR();
        request.setWr_id(workId);
        request.setSg_list(new LinkedList<>(List.of(part(memory, offset, length))));
        request.setNum_sge(1);
        try {
            final SVCPostRecv call = pair().postRecv(List.of(request), null);
            receives.add(call);
            return () -> execute(call);
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            throw new VerbsException("a receive cannot be prepared: " + e.getMessage(), e);
        }
    }

    private void execute(SVCPostRecv call) throws VerbsException {
        try {
            call.execute();
        } catch (IOException e) {
            throw new VerbsException("a receive cannot be posted: " + e.getMessage(), e);
        }
    }

    @Override
    public OneSidedPosting prepareOneSided(
            RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long workId)
            throws VerbsException {
        final List<IbvSendWR> requests = new ArrayList<>();
        for (int i = 0; i < writes; i++) {
            requests.add(oneSided(IbvSendWR.IBV_WR_RDMA_WRITE, 0, part(memory, 0, 0), workId));
        }
        final IbvSge received = part(target, targetOffset, 1);
        requests.add(oneSided(IbvSendWR.IBV_WR_RDMA_READ, IbvSendWR.IBV_SEND_SIGNALED, received, workId));
        try {
            final SVCPostSend call = pair().postSend(requests, null);
            sends.add(call);
            return new OneSided(call, ((DisniVerbs.Registered) memory).region().getAddr(), writes);
        } catch (VerbsException e) {
            throw e;
        } catch (IOException e) {
            throw new VerbsException("WRITEs cannot be prepared: " + e.getMessage(), e);
        }
    }

    private IbvSendWR oneSided(int operation, int flags, IbvSge part, long workId) {
        final IbvSendWR request = new IbvSendWR();
        request.setWr_id(workId);
        request.setOpcode(operation);
        request.setSend_flags(flags);
        request.setSg_list(new LinkedList<>(List.of(part)));
        request.setNum_sge(1);
        return request;
    }

    @Override
    public void open() throws VerbsException {
        final RdmaConnParam parameters = new RdmaConnParam();
        try {
            parameters.setRetry_count(RETRIES);
            parameters.setRnr_retry_count(RETRIES);
            if (isRequest) {
                id.accept(parameters);
            } else {
                id.connect(parameters);
            }
        } catch (IOException e) {
            throw new VerbsException("it cannot be " + (isRequest ? "accepted: " : "connected: ") + e.getMessage(), e);
        }
    }

    @Override
    public void destroy() {
        if (destroyed) {
            return;
        }
        destroyed = true;
        verbs.forget(id);
        if (pair != null) {
            DisniVerbs.quietly(id::disconnect);
            DisniVerbs.quietly(id::destroyQP);
        }
        DisniVerbs.quietly(id::destroyId);
        sends.forEach(SVCPostSend::free);
        receives.forEach(SVCPostRecv::free);
    }

    /** WRITEs and a READ in one call. */
    private static final class OneSided implements VerbsConnection.OneSidedPosting {
        private final SVCPostSend call;
        private final long base;
        private final SVCPostSend.SgeMod[] parts;
        private final SVCPostSend.RdmaMod[] remote;

        OneSided(SVCPostSend call, long base, int writes) throws IOException {
            this.call = call;
            this.base = base;
            this.parts = new SVCPostSend.SgeMod[writes];
            this.remote = new SVCPostSend.RdmaMod[writes + 1];
            for (int i = 0; i <= writes; i++) {
                remote[i] = call.getWrMod(i).getRdmaMod();
                if (i < writes) {
                    parts[i] = call.getWrMod(i).getSgeMod(0);
                }
            }
        }

        @Override
        public void write(int index, int offset, int length, long remoteAddress, int remoteKey) {
            parts[index].setAddr(base + offset);
            parts[index].setLength(length);
            remote[index].setRemote_addr(remoteAddress);
            remote[index].setRkey(remoteKey);
        }

        @Override
        public void read(long remoteAddress, int remoteKey) {
            remote[parts.length].setRemote_addr(remoteAddress);
            remote[parts.length].setRkey(remoteKey);
        }

        @Override
        public void post() throws VerbsException {
            try {
                call.execute();
            } catch (IOException e) {
                throw new VerbsException("WRITEs cannot be posted: " + e.getMessage(), e);
            }
        }
    }
}
