package org.rowankv.protocol.frame;

/** The two kinds of ports. They share framing and handshake; each has its own messages. */
public enum WirePort {
    /** From server to server. The crc covers the head; a payload has its own, because it lands unchanged. */
    PEERS(
            0x7672_536e_6177_6f52L,
            FrameHeadDescriptor.HEAD_LENGTH + 2 * Long.BYTES,
            false,
            "server",
            "run the same release on all servers of the cluster",
            "this is the port for servers (--peer-listen); clients connect to the one for clients (--listen)"),
    /** From client to server. The crc covers the whole frame. */
    CLIENTS(
            0x696c_436e_6177_6f52L,
            FrameHeadDescriptor.HEAD_LENGTH,
            true,
            "client",
            "use a client and a server of the same release",
            "this is the port for clients (--listen); servers connect to the one for servers (--peer-listen)");

    private final long magic;
    private final int headLength;
    private final boolean coversFrame;
    private final String caller;
    private final String sameRelease;
    private final String otherPort;

    WirePort(long magic, int headLength, boolean coversFrame, String caller, String sameRelease, String otherPort) {
        this.magic = magic;
        this.headLength = headLength;
        this.coversFrame = coversFrame;
        this.caller = caller;
        this.sameRelease = sameRelease;
        this.otherPort = otherPort;
    }

    /** The first eight bytes of a handshake: "RowanSrv" or "RowanCli", in this order. */
    public long magic() {
        return magic;
    }

    /** Bytes of a frame before its body: the least length of a frame. */
    int headLength() {
        return headLength;
    }

    /** Whether the crc covers the whole frame, and not the head alone. */
    boolean coversFrame() {
        return coversFrame;
    }

    WirePort other() {
        return this == PEERS ? CLIENTS : PEERS;
    }

    /** Both versions, and the remedy. */
    String whyOtherVersion(boolean called, int version) {
        return "the " + (called ? caller : "server") + " speaks version " + version + ", this "
                + (called ? "server" : caller) + " speaks version " + HandshakeDescriptor.VERSION + "; "
                + sameRelease;
    }

    /** Why a caller with the other magic is at the wrong port. */
    String whyOtherPort(boolean called) {
        return called ? otherPort : "it answers as the " + other().caller + " port does";
    }
}
