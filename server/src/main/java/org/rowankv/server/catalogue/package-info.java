/** Which caches exist, by name and id, as kept in the configuration store and as clients ask for them. */
@NullMarked
package org.rowankv.server.catalogue;

import org.jspecify.annotations.NullMarked;
