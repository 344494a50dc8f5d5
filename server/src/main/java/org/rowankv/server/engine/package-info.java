/** One server: wiring, settings, statistics, life cycle. Each mechanism belongs to its own package. */
@NullMarked
package org.rowankv.server.engine;

import org.jspecify.annotations.NullMarked;
