/** What lies in a store that nobody has open: reads everything and changes nothing. */
@NullMarked
package org.rowankv.server.inspect;

import org.jspecify.annotations.NullMarked;
