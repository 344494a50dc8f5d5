package org.rowankv.rdma;

/**
 * Capabilities of a fabric that matter to its users.
 *
 * @param receiverPlaced whether the receiver's side chooses the address of a message, so that all senders share one log
 * @param maxMessage longest SEND in bytes; a longer entry is sent as blocks
 * @param ackLevel durability of a completion
 * @param streamsPerReceiver write streams into one receiver's memory: 1 with true Rowan placement, 0 for "one per
 *     remote server"
 */
public record FabricCapabilities(boolean receiverPlaced, int maxMessage, AckLevel ackLevel, int streamsPerReceiver) {}
