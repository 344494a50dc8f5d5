package org.rowankv.protocol.frame;

/** The other end violated the protocol: only its connection ends. Has no stack trace, because it may be frequent. */
public final class WireException extends Exception {
    private static final long serialVersionUID = 1L;

    private final WireFault fault;
    private final String text;

    public WireException(WireFault fault, String detail) {
        super(fault.text() + ": " + detail, null, false, false);
        this.fault = fault;
        this.text = fault.text() + ": " + detail;
    }

    public WireFault fault() {
        return fault;
    }

    public String text() {
        return text;
    }
}
