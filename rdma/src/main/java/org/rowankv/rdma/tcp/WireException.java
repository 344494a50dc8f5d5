package org.rowankv.rdma.tcp;

/** The peer broke the protocol: its connection ends, and nothing else does. Carries no stack, since it may come often. */
final class WireException extends Exception {
    private static final long serialVersionUID = 1L;

    private final WireFault fault;
    private final String text;

    WireException(WireFault fault, String detail) {
        super(fault.text() + ": " + detail, null, false, false);
        this.fault = fault;
        this.text = fault.text() + ": " + detail;
    }

    String text() {
        return text;
    }

    WireFault fault() {
        return fault;
    }
}
