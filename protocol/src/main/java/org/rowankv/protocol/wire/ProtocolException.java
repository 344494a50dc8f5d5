package org.rowankv.protocol.wire;

/** The other end broke the protocol: its connection ends, and nothing else does. Carries no stack, since it may come often. */
public final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1L;

    private final ProtocolFault fault;
    private final String text;

    public ProtocolException(ProtocolFault fault, String detail) {
        super(fault.text() + ": " + detail, null, false, false);
        this.fault = fault;
        this.text = fault.text() + ": " + detail;
    }

    public ProtocolFault fault() {
        return fault;
    }

    public String text() {
        return text;
    }
}
