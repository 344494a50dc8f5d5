package org.rowankv.protocol.wire;

/** What can be wrong with the bytes of the other end. Each ends one connection, and is counted. */
public enum ProtocolFault {
    /** The first bytes are not ours: another protocol, a port scanner, a browser. */
    FOREIGN_PROTOCOL("it does not speak this protocol"),
    OTHER_VERSION("it speaks another version of this protocol"),
    OTHER_CLUSTER("it means another cluster"),
    /** A length outside what its frame may have. Found before anything is allocated for it. */
    BAD_LENGTH("a frame has a length that it must not have"),
    BAD_CHECKSUM("a checksum does not agree"),
    /** A frame or a field that must not come here. */
    BAD_FRAME("a frame is not what may come now"),
    NO_HANDSHAKE("it did not introduce itself in time"),
    /** A frame that was begun, or answers that wait to be read, did not get on. */
    STALLED("a frame did not get on in time"),
    TOO_MANY_CONNECTIONS("there are too many connections");

    private final String text;

    ProtocolFault(String text) {
        this.text = text;
    }

    /** What is wrong, in words that continue "connection closed:". */
    public String text() {
        return text;
    }
}
