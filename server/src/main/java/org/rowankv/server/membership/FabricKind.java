package org.rowankv.server.membership;

/** What carries entries between the servers of a cluster: the same on all, from the cluster's creation on. */
public enum FabricKind {
    /** Connections of TCP; a thread of the receiver lands. */
    TCP("tcp", "tcp", "--fabric tcp"),
    /** Queue pairs of RDMA; a thread of the receiver lands. */
    RDMA_LANDED("rdma-landed", "rdma (landed)", "--fabric rdma");

    private final String parameter;
    private final String text;
    private final String options;

    FabricKind(String parameter, String text, String options) {
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
