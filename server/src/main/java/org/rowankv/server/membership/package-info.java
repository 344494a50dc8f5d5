/**
 * Who decides: the configuration store and what is stored there. The only room that knows how a configuration is kept.
 */
@NullMarked
package org.rowankv.server.membership;

import org.jspecify.annotations.NullMarked;
