/**
 * One server of a cluster in which each is a process of its own: how it comes to be a member, how the servers start
 * together, and what they ask each other while they serve.
 */
@NullMarked
package org.rowankv.server.cluster;

import org.jspecify.annotations.NullMarked;
