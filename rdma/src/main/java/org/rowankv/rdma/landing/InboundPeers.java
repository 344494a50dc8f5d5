package org.rowankv.rdma.landing;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.landing.wire.CreditAccount;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.runtime.FaultLog;

/**
 * State of the servers with queue pairs to one endpoint: their processes, open queue pairs and credit. On the NIC
 * agent's event loop only, but for {@link #takeCredit}.
 */
final class InboundPeers {
    /** Limit of dead queue pairs of one server whose accounts are kept, the latest. */
    private static final int MAX_DEAD = PeerHandshakeDescriptor.MAX_LIVE;

    private final EndpointSettings settings;
    private final LandedQueue queue;
    private final FaultLog<WireFault> faults;
    private final Map<Integer, Peer> peers = new ConcurrentHashMap<>();
    /** What processes had when another of their server connected; until it is taken. Under its own monitor. */
    private final Map<SenderProcess, Long> creditOfFormer = new HashMap<>();

    private record SenderProcess(int serverId, long incarnation) {}

    private static final class Peer {
        private final long incarnation;
        private final long nonce;
        private final CreditAccount.Total credit = new CreditAccount.Total();
        private final Map<Long, LandingConnection> live = new HashMap<>();
        private final Map<Long, CreditAccount> dead = new LinkedHashMap<>();

        Peer(PeerHello hello) {
            incarnation = hello.incarnation();
            nonce = hello.nonce();
        }

        boolean is(PeerHello hello) {
            return incarnation == hello.incarnation() && nonce == hello.nonce();
        }

        void keep(long pair, CreditAccount account) {
            dead.put(pair, account);
            if (dead.size() > MAX_DEAD) {
                dead.remove(dead.keySet().iterator().next());
            }
        }
    }

    InboundPeers(EndpointSettings settings, LandedQueue queue, FaultLog<WireFault> faults) {
        this.settings = settings;
        this.queue = queue;
        this.faults = faults;
    }

    /**
     * Refuses a second process that claims the same incarnation of a server while a queue pair of the first is open. It
     * cannot determine which one is genuine.
     */
    void checkNonce(PeerHello hello, Object address) {
        final Peer known = peers.get(hello.from());
        if (known != null && !known.is(hello) && known.incarnation == hello.incarnation() && !known.live.isEmpty()) {
            final String why = "it says that it is server " + hello.from() + ", incarnation " + hello.incarnation()
                    + ", and so does another process that is connected here";
            faults.report(WireFault.IMPOSTOR, address, why);
            throw RefusalStatus.refusal(
                    Reason.NOT_ADMITTED,
                    settings.serverId(),
                    "another process is connected as server " + hello.from() + ", incarnation " + hello.incarnation()
                            + ": one of the two is no server, or both run on copies of one data directory");
        }
    }

    /**
     * Admits a queue pair; fences the superseded ones before it may land.
     *
     * @return its account
     */
    CreditAccount admitted(PeerHello hello, LandingConnection connection) throws WireException {
        Peer peer = peers.get(hello.from());
        if (peer == null || !peer.is(hello)) {
            keepCredit(hello.from(), peer);
            peer = new Peer(hello);
            peers.put(hello.from(), peer);
        }
        queue.fence(other -> other.senderId() == hello.from()
                && other != connection
                && (other.peer().incarnation() != hello.incarnation()
                        || hello.isDead(other.peer().pair())));
        if (peer.live.putIfAbsent(hello.pair(), connection) != null
                || peer.live.size() > PeerHandshakeDescriptor.MAX_LIVE) {
            queue.forget(connection);
            throw new WireException(WireFault.BAD_FRAME, "queue pair " + hello.pair() + " is open, or too many are");
        }
        return new CreditAccount(peer.credit);
    }

    /** The credit that a process holds or has used, which is fenced and returns nothing more. Any thread. */
    long takeCredit(int serverId, long incarnation) {
        synchronized (creditOfFormer) {
            final Peer peer = peers.get(serverId);
            final Long former = creditOfFormer.remove(new SenderProcess(serverId, incarnation));
            final long present = peer == null || peer.incarnation != incarnation ? 0 : peer.credit.takeAll();
            return present + (former == null ? 0 : former);
        }
    }

    /** Another process of a server connects: what the former has is still to be taken, once all that landed is digested. */
    private void keepCredit(int serverId, @Nullable Peer former) {
        if (former == null) {
            return;
        }
        synchronized (creditOfFormer) {
            final long credit = former.credit.takeAll();
            if (credit > 0) {
                creditOfFormer.merge(new SenderProcess(serverId, former.incarnation), credit, Long::sum);
            }
        }
    }

    void ended(LandingConnection connection) {
        final PeerHello hello = connection.peer();
        final Peer peer = of(hello);
        if (peer != null && peer.live.remove(hello.pair(), connection)) {
            peer.keep(hello.pair(), connection.credit());
        }
    }

    private @Nullable Peer of(PeerHello hello) {
        final Peer peer = peers.get(hello.from());
        return peer != null && peer.is(hello) ? peer : null;
    }

    /** Settles the credit of a sender's dead queue pair. If it is still alive here, it is fenced. */
    void settle(PeerHello from, long pair, long receivedCredit, long returnedCredit) throws WireException {
        final Peer peer = of(from);
        if (peer == null) {
            return;
        }
        final LandingConnection live = peer.live.get(pair);
        if (live != null) {
            queue.fence(connection -> connection == live);
        }
        final CreditAccount account = live != null ? live.credit() : peer.dead.get(pair);
        if (account != null) {
            account.settle(settings.credit(), receivedCredit, returnedCredit);
        }
    }
}
