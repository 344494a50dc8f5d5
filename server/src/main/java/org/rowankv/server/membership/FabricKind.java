package org.rowankv.server.membership;

/** What carries entries between the servers of a cluster: the same on all, from the cluster's creation on. */
public enum FabricKind {
    /** Connections of TCP; a thread of the receiver lands. */
    TCP("tcp", "tcp", "--fabric tcp", 0),
    /** Queue pairs of RDMA; a thread of the receiver lands. */
    RDMA_LANDED("rdma-landed", "rdma (landed)", "--fabric rdma --rdma-mode landed", 0),
    /** WRITEs of RDMA into segments that are leased to their senders. */
    RDMA_LEASED("rdma-leased", "rdma (leased, one-sided)", "--fabric rdma --rdma-mode leased", 3);

    private final String parameter;
    private final String text;
    private final String options;
    private final int leases;

    FabricKind(String parameter, String text, String options, int leases) {
        this.leases = leases;
        this.parameter = parameter;
        this.text = text;
        this.options = options;
    }

    /** As it is stored. */
    public String parameter() {
        return parameter;
    }

    /** For operators. */
    public String text() {
        return text;
    }

    /** Segments that each other server has leased here, at most; 0 if the receiver places entries. */
    public int leases() {
        return leases;
    }

    /** Options of a server that select it. */
    String options() {
        return options;
    }

    /** @throws ClusterException if this version has no such fabric */
    static FabricKind of(String parameter) {
        for (FabricKind kind : values()) {
            if (kind.parameter.equals(parameter)) {
                return kind;
            }
        }
        throw new ClusterException("the cluster has the fabric '" + parameter
                + "', which this version of Rowan-KV does not have: use the version of its other servers");
    }
}
