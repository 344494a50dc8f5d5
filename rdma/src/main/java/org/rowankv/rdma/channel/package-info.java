/**
 * Netty's channels over the verbs of an RDMA device, mode {@code landed}: bytes travel in SENDs into slots that the
 * other end has posted; its NIC agent lands them. So fences, acknowledgements, credit and handshakes are those of {@link
 * org.rowankv.rdma.landing}.
 *
 * <p>{@code docs/protocol.md} describes the bytes, {@code docs/design/fabrics.md} the decisions.
 */
@NullMarked
package org.rowankv.rdma.channel;

import org.jspecify.annotations.NullMarked;
