package org.rowankv.rdma.verbs;

/** Memory that a device may access. */
public interface RegisteredMemory {

    /** Bytes in it. */
    int length();
}
