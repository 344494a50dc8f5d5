package org.rowankv.protocol.frame;

/** Faults in the bytes or the silence of the other end. Each ends one connection, and is counted. */
public enum WireFault {
    /** The first bytes belong to another protocol: a port scanner, a browser. */
    FOREIGN_PROTOCOL("it does not speak this protocol"),
    /** A client at the port for servers, or the reverse. */
    OTHER_PORT("it is at the wrong port"),
    OTHER_VERSION("it speaks another version of this protocol"),
    OTHER_CLUSTER("it means another cluster"),
    /** A length outside what its frame may have. Found before anything is allocated for it. */
    BAD_LENGTH("a frame has a length that it must not have"),
    BAD_CHECKSUM("a checksum does not agree"),
    /** A frame or field that is invalid here. */
    BAD_FRAME("a frame is not what may come now"),
    /** A number out of sequence. */
    OUT_OF_ORDER("a frame is not the next in order"),
    /** Exceeds a grant. */
    BEYOND_ITS_WINDOW("it sent more than it was allowed to"),
    NO_HANDSHAKE("it did not introduce itself in time"),
    /** Silence for too long: the other end is dead, or the network between. */
    SILENT("no bytes received for too long"),
    /** An incomplete frame, or unread responses, make too little progress, although each byte may be in time. */
    STALLED("a frame did not get on in time"),
    TOO_MANY_CONNECTIONS("there are too many connections"),
    /** Another authentication method than this end's. */
    OTHER_METHOD("it authenticates in another way than this server"),
    /** Its proof is wrong or missing. */
    UNPROVEN("it does not prove that it holds the cluster's secret"),
    /** It claims to be this server, no member, or a process that the member has not registered. */
    NO_MEMBER("it is not a server that may connect here"),
    /** Two processes claim the same incarnation of a server. */
    IMPOSTOR("another process says that it is the same start of the same server");

    private final String text;

    WireFault(String text) {
        this.text = text;
    }

    /** What is wrong, in words that continue "connection closed:". */
    public String text() {
        return text;
    }
}
