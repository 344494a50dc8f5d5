package org.rowankv.rdma;

/**
 * Capabilities of a fabric that matter to its users.
 *
 * @param maxMessage longest SEND in bytes; a longer entry is sent as blocks
 * @param ackLevel durability of a completion
 */
public record FabricCapabilities(int maxMessage, AckLevel ackLevel) {}
