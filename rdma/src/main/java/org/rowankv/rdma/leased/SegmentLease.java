package org.rowankv.rdma.leased;

/**
 * A segment of the receiver that a sender may write.
 *
 * @param address region address at the receiver, which the placement crc covers
 * @param remoteAddress of the same byte, for WRITEs
 */
record SegmentLease(long ordinal, long address, int generation, long remoteAddress, int remoteKey) {}
