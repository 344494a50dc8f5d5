/** The engine that keeps the bytes: its door and its wiring. */
@NullMarked
package org.rowankv.server;

import org.jspecify.annotations.NullMarked;
