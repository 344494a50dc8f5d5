/**
 * One shard's replica on one server: applies entries to index, sessions, clears and counts; and the server's roles.
 * Contains no request handling.
 */
@NullMarked
package org.rowankv.server.shard;

import org.jspecify.annotations.NullMarked;
