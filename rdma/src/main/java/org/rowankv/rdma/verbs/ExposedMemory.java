package org.rowankv.rdma.verbs;

/**
 * Memory that the other ends of connections may write and read, wherever they hold its key: the device checks no more
 * than that. It cannot be taken back from one of them but by destroying the connection.
 */
public interface ExposedMemory extends RegisteredMemory {

    /** Of its first byte, as other ends name it. */
    long address();

    /** Without it, no other end can name the memory. */
    int remoteKey();
}
