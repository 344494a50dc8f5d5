/**
 * Reading again what was written long ago: finds entries that are not whole any more, before somebody asks for them, and
 * takes them from another replica where there is one.
 */
@NullMarked
package org.rowankv.server.scrub;

import org.jspecify.annotations.NullMarked;
