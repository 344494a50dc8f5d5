package org.rowankv.protocol.frame;

/** What can be wrong with the bytes or the silence of the other end. Each ends one connection, and is counted. */
public enum WireFault {
    /** The first bytes are not ours: another protocol, a port scanner, a browser. */
    FOREIGN_PROTOCOL("it does not speak this protocol"),
    /** A client at the port for servers, or the reverse. */
    OTHER_PORT("it is at the wrong port"),
    OTHER_VERSION("it speaks another version of this protocol"),
    OTHER_CLUSTER("it means another cluster"),
    /** A length outside what its frame may have. Found before anything is allocated for it. */
    BAD_LENGTH("a frame has a length that it must not have"),
    BAD_CHECKSUM("a checksum does not agree"),
    /** A frame or a field that must not stand here. */
    BAD_FRAME("a frame is not what may come now"),
    /** A number that is not the next. */
    OUT_OF_ORDER("a frame is not the next in order"),
    /** More than was granted. */
    BEYOND_ITS_WINDOW("it sent more than it was allowed to"),
    NO_HANDSHAKE("it did not introduce itself in time"),
    /** Nothing heard for too long: the other end is gone, or the network in between. */
    SILENT("nothing was heard of it for too long"),
    /** A frame that was begun, or answers that wait to be read, do not get on: each byte may have arrived in time. */
    STALLED("a frame did not get on in time"),
    TOO_MANY_CONNECTIONS("there are too many connections"),
    /** It authenticates by another method than this end. */
    OTHER_METHOD("it authenticates in another way than this server"),
    /** Its proof is wrong, or missing. */
    UNPROVEN("it does not prove that it holds the cluster's secret"),
    /** It says that it is this server, no member, or a process that the member has not announced. */
    NO_MEMBER("it is not a server that may connect here"),
    /** Two processes that both say they are this server in this incarnation. */
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
