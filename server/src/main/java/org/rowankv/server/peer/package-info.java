/**
 * Messages between servers besides the log: control requests, reconciliation, space pressure. Log entries go through
 * the fabric.
 */
@NullMarked
package org.rowankv.server.peer;

import org.jspecify.annotations.NullMarked;
